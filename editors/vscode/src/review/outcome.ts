/** What came of a verdict, in words. Pure. */

import { neutral, neutralMessage, neutralName } from "../shared/neutral";
import type { Reviewed } from "../shared/protocol";
import { count } from "../shared/words";

export type Verdict = "accept" | "reject";

export interface OutcomeWords {
  message: string;
  /** Why something was left, if it was. */
  detail?: string;
}

export const NOT_WHAT_IT_WAS = "That change is not what it was: look at it again.";

/** `hunks` are the ids that were named, all of them of the file at `path`. */
export function outcomeWords(verdict: Verdict, { done, failed }: Reviewed, hunks: string[], path?: string): OutcomeWords {
  const said = `${verdict === "accept" ? "Accepted" : "Rejected"} ${count(done.length, "file")}.`;
  if (failed.length === 0) return { message: said };
  // The server names a hunk that it does not know by its id, which says nothing to people.
  const left = failed.map((one) => (hunks.includes(one.path) ? { path, why: NOT_WHAT_IT_WAS } : one));
  const names = unique(left.flatMap((one) => (one.path === undefined ? [] : [neutralName(one.path)])));
  const not = names.length > 0 ? `Not ${verdict}ed: ${names.join(", ")}` : NOT_WHAT_IT_WAS;
  const why = left.map((one) => (one.path === undefined ? one.why : `${neutralName(one.path)}: ${one.why}`));
  return {
    message: neutralMessage(done.length > 0 ? `${said} ${not}` : not),
    detail: unique(why.map(neutral)).join("\n\n"),
  };
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)];
}
