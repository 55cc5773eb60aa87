/** Opening logs of unusual shapes. */
import { deepStrictEqual } from "node:assert";
import { openSession } from "@branchlog/core";
import type { BenchCase } from "../bench-case.ts";
import { shapeQuestion } from "../shape-question.ts";

/** See the file comment. */
export const benchCase: BenchCase = shapeQuestion<{
  readonly entries: number;
  readonly leafId: string | null;
}>({
  name: "shape-open",
  question: "What does opening cost for each entry, whatever the shape of the log?",
  goal: "twice the usual shape at most.",
  comparedBy: "ns/entry",
  prepare:
    ({ path }) =>
    async () => {
      const session = await openSession(path, { access: "read", checkpoint: "off" });
      return { entries: session.revision, leafId: session.leaf };
    },
  check: (opened, { facts: { entries, leafId } }) => deepStrictEqual(opened, { entries, leafId }),
  figures: ({ entries }, wallMs, { facts }) => ({
    "ns/entry": (wallMs * 1e6) / entries,
    "ns/byte": (wallMs * 1e6) / facts.bytes,
  }),
});
