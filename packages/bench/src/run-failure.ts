/** What became of a process that did not answer, in one line for a report. Pure. */

/** The exit code of a process whose answer was wrong. */
export const wrongAnswerCode = 3;

/** The name of the error that says so; its class may be loaded more than once. */
export const wrongAnswerName = "WrongAnswer";

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** Its standard error. */
  readonly complaints: string;
  readonly isLate: boolean;
}

const reasonLengthMax = 160;
const telling = [/^FATAL ERROR: .*$/m, /^.*(?:Error|Exception|panic)[^:\n]*: .*$/m, /^.*\S.*$/m];

/** Like `crashes: RangeError: …`; never empty, never with a line break or a `|`. */
export function describeFailure({ code, signal, complaints, isLate }: ProcessEnd): string {
  if (isLate) return "does not end in time";
  if (code === 0) return "ended without an answer";
  if (code === wrongAnswerCode) return `answers wrongly: ${oneLine(answerIn(complaints))}`;
  const found = telling.map((pattern) => pattern.exec(complaints)?.[0]);
  const line = found.find((text) => text !== undefined) ?? `ended with ${signal ?? `code ${code}`}`;
  return `crashes: ${oneLine(line)}`;
}

/** What the check said, without where it said so. */
function answerIn(complaints: string): string {
  const [message = ""] = complaints.split(/\n {4}at /);
  return message.replace(/^[^]*?WrongAnswer: /, "");
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ").replaceAll("|", "/").slice(0, reasonLengthMax);
}
