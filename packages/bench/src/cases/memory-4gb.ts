/** The memory of whoever uses a log of 4 GB. */
import type { BenchCase } from "../bench-case.ts";
import { memoryQuestion } from "../memory-question.ts";

/** See the file comment. */
export const benchCase: BenchCase = memoryQuestion({
  name: "memory-4gb",
  question: "How much memory does a process need that uses 4 GB of about four million entries?",
  goal: "the bytes of each entry that 1 GB takes, or less.",
  input: (scale) => ({
    mix: "message-heavy",
    bytes: scale === "full" ? 4_000_000_000 : 40_000_000,
    seed: 7,
  }),
  needs: "huge",
});
