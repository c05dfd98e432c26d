/** Lines that both the user and the agent changed: four ways to settle them, each of which leaves whole lines. Pure. */

import type { Hunk } from "../shared/protocol";
import { count } from "../shared/words";

export type Way = "yours" | "theirs" | "both" | "byHand";

export const WAYS: { way: Way; label: string; detail: string }[] = [
  { way: "yours", label: "Keep yours", detail: "The agent's lines are thrown away." },
  { way: "theirs", label: "Take the agent's", detail: "Its lines replace yours." },
  { way: "both", label: "Keep both", detail: "Your lines, and the agent's after them." },
  { way: "byHand", label: "Edit by hand", detail: "Both go into the file between marks, for you to edit." },
];

/** The ids to accept and to reject, so that hunks in conflict are settled like this and all others are accepted. */
export function settle(hunks: Hunk[], way: Way): { accept: string[]; reject: string[] } {
  const rejected = hunks.filter((hunk) => way === "yours" && hunk.conflict !== undefined);
  const accepted = hunks.filter((hunk) => !rejected.includes(hunk));
  return { accept: accepted.map((hunk) => idFor(hunk, way)), reject: rejected.map(({ id }) => id) };
}

export function conflicts(hunks: Hunk[]): number {
  return hunks.filter(({ conflict }) => conflict !== undefined).length;
}

export function conflictQuestion(hunks: Hunk[]): string {
  const many = conflicts(hunks);
  return many === 1 ? "You and the agent changed the same lines" : `You and the agent changed the same lines in ${count(many, "place")}`;
}

function idFor({ id, conflict }: Hunk, way: Way): string {
  if (way === "theirs") return conflict?.theirs ?? id;
  return way === "both" ? (conflict?.both ?? id) : id;
}
