/** The whole tree of logs of unusual shapes. */
import { deepStrictEqual } from "node:assert";
import { SessionManager } from "@branchlog/core/pi";
import type { BenchCase } from "../bench-case.ts";
import { countNodes } from "../node-count.ts";
import { ownLog } from "../own-input.ts";
import { shapeQuestion } from "../shape-question.ts";

/** See the file comment. */
export const benchCase: BenchCase = shapeQuestion<number>({
  name: "shape-tree",
  question: "What does getTree() cost for each entry, whatever the shape of the log?",
  goal: "twice the usual shape at most.",
  comparedBy: "ns/entry",
  prepare: (input) => {
    const manager = SessionManager.open(ownLog(input));
    return () => countNodes(manager.getTree());
  },
  check: (nodes, { facts }) => deepStrictEqual(nodes, facts.entries),
  figures: (nodes, wallMs) => ({ "ns/entry": (wallMs * 1e6) / nodes }),
});
