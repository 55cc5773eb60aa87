/** The memory of whoever uses a log of 1 GB. */
import type { BenchCase } from "../bench-case.ts";
import { largeSession } from "../inputs.ts";
import { memoryQuestion } from "../memory-question.ts";

/** See the file comment. */
export const benchCase: BenchCase = memoryQuestion({
  name: "memory-1gb",
  question: "How much memory does a process need that uses 1 GB of about a million entries?",
  goal: "150 MB to open it, 500 MB for every entry of pi's face.",
  input: largeSession,
});
