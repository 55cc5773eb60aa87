/** Opening a session of 1 GB under a heap limit of 256 MB. */
import type { BenchCase } from "../bench-case.ts";
import { largeSession } from "../inputs.ts";
import { openQuestion } from "../open-question.ts";

/** See the file comment. */
export const benchCase: BenchCase = openQuestion(
  "open-1gb",
  "1 GB",
  "10 times faster than the fastest peer, with at most 150 MB of memory.",
  largeSession,
);
