/** The id of a session that only its file, or a record, may name. Pure. */
import { isValidSessionId } from "@branchlog/core/rows";

const uuidAtEnd = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The source's id if valid, else the UUID in the file name, else the name.
 * @param isNamedById Whether a name that is a UUID counts more than the source's id.
 */
export function transcriptId(
  sourceId: string | undefined,
  fileName: string,
  isNamedById = false,
): string {
  const name = fileName.replace(/\.jsonl$/, "");
  const uuid = uuidAtEnd.exec(name)?.[0];
  const named = isNamedById && uuid === name ? uuid : undefined;
  const found = [named, sourceId, uuid, name].find(
    (id) => id !== undefined && isValidSessionId(id),
  );
  return found ?? `imported${name.replaceAll(/[^A-Za-z0-9]/g, "")}`;
}
