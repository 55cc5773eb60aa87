/** The memory of whoever uses a log of four million short entries. */
import type { BenchCase } from "../bench-case.ts";
import { memoryQuestion } from "../memory-question.ts";

/** See the file comment. */
export const benchCase: BenchCase = memoryQuestion({
  name: "memory-4m-entries",
  question: "How much memory does a process need that uses a chain of four million short entries?",
  goal: "the bytes of each entry that a million take, or less.",
  input: (scale) => ({ shape: "chain", entries: scale === "full" ? 4_000_000 : 80_000, seed: 7 }),
  needs: "huge",
});
