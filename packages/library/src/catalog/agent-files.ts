/** Which files are of agents whose sessions are documents, or in several files, by their names. */
import { addressInFile, documentFormatOf, documentFormats } from "@branchlog/core/rows";
import { fileOfAddress, transcriptFormats } from "@branchlog/core/rows";
import { isBranchlogError } from "@branchlog/core";
import { filesStamp, isSessionFileName, lookAtFile } from "./session-files.ts";
import type { SessionFile } from "./session-files.ts";

/**
 * Whether a file may be a document, by its name alone; one of lines, which most agents have, is one
 * only by its path and its first bytes.
 */
export function mayBeDocument(path: string): boolean {
  const isOther = !isSessionFileName(path);
  return documentFormats().some((one) => one.mayBe(path) && (isOther || one.recognises(path)));
}

export function isDocumentPlace(directory: string): boolean {
  return documentFormats().some((format) => format.isPlace(directory));
}

/** The last file of the session that this one is of; itself for most. */
export function lastFile(path: string): string {
  const last = transcriptFormats().map(({ parts }) => parts?.last(path) ?? path);
  return last.find((one) => one !== path) ?? path;
}

/** The document at a path, or those of the sessions in it; itself, if it is damaged. */
export async function documentFiles(path: string): Promise<readonly SessionFile[]> {
  const { file, id } = fileOfAddress(path);
  const whole = lookAtFile(file);
  // Most are asked by their names alone.
  const mayHaveSeveral = documentFormats().some(
    (format) => format.sessionsIn !== undefined && format.mayBe(file),
  );
  if (!mayHaveSeveral && id === undefined) return [whole];
  const others = async (): Promise<readonly SessionFile[] | undefined> => {
    const sessions = await documentFormatOf(file)?.sessionsIn?.(file);
    return sessions?.map(({ id: own, changedMs, count, rowFacts }) => ({
      ...whole,
      path: addressInFile(file, own),
      name: addressInFile(whole.name, own),
      // Some programs rename a session without a new time.
      identity: [whole.identity, own, rowFacts?.name].join("#"),
      mtimeMs: changedMs,
      ctimeMs: changedMs,
      size: count,
      rowFacts,
    }));
  };
  try {
    const found = (await others()) ?? [whole];
    return id === undefined ? found : found.filter((one) => one.path === path);
  } catch (error) {
    if (!isBranchlogError(error)) throw error;
    return [whole];
  }
}

/** Whether a session is not a file of its own, with others that belong to it, to be taken away. */
export function sharesFiles(path: string): boolean {
  const format = documentFormats().find((one) => one.mayBe(path));
  if (format === undefined) return false;
  const isPart = fileOfAddress(path).id !== undefined || format.belongings === undefined;
  return isPart ? format.sessionsIn !== undefined : format.belongings?.(path) === undefined;
}

/** Tells which files hold a session that one of these documents holds, too. */
export function heldIn(documents: readonly SessionFile[]): (path: string) => boolean {
  const held = new Set<string>();
  for (const { path } of documents) {
    const { file, id } = fileOfAddress(path);
    const owner = id && documentFormats().find((format) => format.mayBe(file))?.agent;
    if (owner) held.add(`${owner}#${id}`);
  }
  if (held.size === 0) return () => false;
  return (path) =>
    documentFormats().some((format) => {
      const id = format.idInOthers?.(path);
      return id !== undefined && held.has(`${format.agent}#${id}`);
    });
}

/**
 * The stamp of the other files that say something of a session. Rows of a database have one of
 * their own.
 * @param agent Whose session it is. Default: it may be of any.
 */
export function stampBeside(path: string, agent?: string): string | undefined {
  if (fileOfAddress(path).id !== undefined) return "";
  const files: string[] = [];
  // Asked for each file of a list: of most, nothing is beside them.
  for (const format of transcriptFormats()) {
    const isOther = agent !== undefined && agent !== format.agent;
    if (!isOther) files.push(...(format.filesBeside?.(path) ?? []));
  }
  for (const format of isSessionFileName(path) ? [] : documentFormats()) {
    const isOther = agent !== undefined && agent !== format.agent;
    if (!isOther && format.mayBe(path)) files.push(...(format.filesOf?.(path).slice(1) ?? []));
  }
  return files.length === 0 ? "" : filesStamp(files);
}
