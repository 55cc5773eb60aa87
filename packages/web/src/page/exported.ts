/** The answers in a page that is a file of its own, made by `branchlog export --to html`. */

/** By address; undefined: this page has a server. */
const answers: Readonly<Record<string, unknown>> | undefined = readAnswers();

export const isExported: boolean = answers !== undefined;

/** Throws for what the file does not have. */
export function exportedAnswer(address: string): unknown {
  const answer = answers?.[address];
  if (answer !== undefined) return answer;
  throw new Error("This file does not have that. branchlog serve shows the whole session.");
}

function readAnswers(): Readonly<Record<string, unknown>> | undefined {
  const text = document.getElementById("exported")?.textContent;
  // Decoding boundary: our own export.
  return text === undefined || text === null
    ? undefined
    : (JSON.parse(text) as Readonly<Record<string, unknown>>);
}
