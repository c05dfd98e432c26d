/** Who wants the cursor in the input, and the input that gives it. */

type Give = (text: string | undefined) => void;

let give: Give | undefined;
let asked: { text: string | undefined } | undefined;

export const Focus = {
  request(text: string | undefined): void {
    if (give === undefined) asked = { text };
    else give(text);
  },
  /** The input is there from now on; a wish that came before is fulfilled. */
  offer(by: Give): () => void {
    give = by;
    if (asked !== undefined) by(asked.text);
    asked = undefined;
    return () => {
      give = undefined;
    };
  },
};
