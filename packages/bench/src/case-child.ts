/** The process in which one subject of one case runs once; prints the measurement as JSON. */
import { exit, stderr, stdin, stdout } from "node:process";
import { text } from "node:stream/consumers";
import { type BenchCase, type CaseInput, wrongAnswerCode, wrongAnswerName } from "./bench-case.ts";

export interface ChildRequest {
  /** URL of the module that exports the case as `benchCase`, or several as `cases`. */
  readonly caseUrl: string;
  readonly caseName: string;
  readonly subject: string;
  readonly input: CaseInput;
}

try {
  // Decoding boundary: the parent wrote the request and knows what the module exports.
  const { caseUrl, caseName, subject, input } = JSON.parse(await text(stdin)) as ChildRequest;
  const module = (await import(caseUrl)) as { benchCase?: BenchCase; cases?: BenchCase[] };
  const chosen = module.benchCase ?? module.cases?.find(({ name }) => name === caseName);
  if (chosen === undefined) throw new RangeError(`${caseUrl} has no case "${caseName}"`);
  const measurement = JSON.stringify(await chosen.run(subject, input));
  // On its own line, after any output of the subject.
  stdout.write(`\n${measurement}\n`);
} catch (error) {
  const [name, stack] = error instanceof Error ? [error.name, error.stack] : [];
  stderr.write(`${stack ?? String(error)}\n`);
  exit(name === wrongAnswerName ? wrongAnswerCode : 1);
}
