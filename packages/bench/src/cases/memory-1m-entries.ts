/** The memory of whoever uses a log of a million short entries. */
import type { BenchCase } from "../bench-case.ts";
import { memoryQuestion } from "../memory-question.ts";

/** See the file comment. */
export const benchCase: BenchCase = memoryQuestion({
  name: "memory-1m-entries",
  question: "How much memory does a process need that uses a chain of a million short entries?",
  goal: "150 MB to open it, 500 MB for every entry of pi's face.",
  input: (scale) => ({ shape: "chain", entries: scale === "full" ? 1_000_000 : 20_000, seed: 7 }),
});
