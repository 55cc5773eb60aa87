/** Which files are of agents whose sessions are documents, or in several files, by their names. */
import { registeredAgents, transcriptFormats } from "@branchlog/core/rows";

/** Whether a file may be a document, by its name alone. */
export function mayBeDocument(name: string): boolean {
  return registeredAgents().some(({ documents }) => documents?.mayBe(name) === true);
}

export function isDocumentPlace(directory: string): boolean {
  return registeredAgents().some(({ documents }) => documents?.isPlace(directory) === true);
}

/** The last file of the session that this one is of; itself for most. */
export function lastFile(path: string): string {
  const last = transcriptFormats().map(({ parts }) => parts?.last(path) ?? path);
  return last.find((one) => one !== path) ?? path;
}
