/** The memory of whoever uses a log that is mostly images. */
import type { BenchCase } from "../bench-case.ts";
import { memoryQuestion } from "../memory-question.ts";

/** See the file comment. */
export const benchCase: BenchCase = memoryQuestion({
  name: "memory-images",
  question: "How much memory does a process need that uses 1 GB of which 95 % are images?",
  goal: "150 MB to open it; a context holds the images that are in it.",
  input: (scale) => ({
    mix: "image-heavy",
    bytes: scale === "full" ? 1_000_000_000 : 20_000_000,
    seed: 7,
  }),
});
