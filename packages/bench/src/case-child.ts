/**
 * The process in which one subject of one case runs once. Prints the measurement as one line of
 * JSON, or says on stderr what was wrong and exits with 1, or with 3 if only the answer was.
 * Started by process-case.ts only.
 */
import { readFileSync } from "node:fs";
import { exit, stderr, stdin, stdout } from "node:process";
import type { BenchCase, CaseInput } from "./bench-case.ts";
import { wrongAnswerCode, wrongAnswerName } from "./run-failure.ts";

/** What the child is asked to do, as JSON on its standard input. */
export interface ChildRequest {
  /** URL of the module that exports `benchCase`. */
  readonly caseUrl: string;
  readonly subject: string;
  readonly input: CaseInput;
}

try {
  // Decoding boundary: the parent wrote the request and knows what the module exports.
  const { caseUrl, subject, input } = JSON.parse(readFileSync(stdin.fd, "utf8")) as ChildRequest;
  const { benchCase } = (await import(caseUrl)) as { readonly benchCase: BenchCase };
  stdout.write(`${JSON.stringify(await benchCase.run(subject, input))}\n`);
} catch (error) {
  stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  exit(error instanceof Error && error.name === wrongAnswerName ? wrongAnswerCode : 1);
}
