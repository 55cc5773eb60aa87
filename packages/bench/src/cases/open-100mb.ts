/** Opening a session of 100 MB. */
import type { BenchCase } from "../bench-case.ts";
import { middleSession } from "../inputs.ts";
import { openQuestion } from "../open-question.ts";

/** See the file comment. */
export const benchCase: BenchCase = openQuestion(
  "open-100mb",
  "100 MB",
  "8 times faster than the fastest peer.",
  middleSession,
);
