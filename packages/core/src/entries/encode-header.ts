/** Makes the header line of a session file, byte for byte as pi writes it. Pure. */
import { BranchlogError } from "../errors.ts";
import type { SessionHeader } from "./entry-types.ts";
import { guardEncoding, objectText } from "./json-text.ts";
import { orderedFields } from "./ordered-fields.ts";

const headerKeys = ["type", "version", "id", "timestamp", "cwd", "title", "parentSession"];

/**
 * The header as one line with its newline: pi's keys in pi's order, then all others in theirs. Keys
 * that are undefined are left out.
 *
 * @throws `ERR_INVALID_ARGUMENT` if readers would not take it for a header (type, id),
 * `ERR_UNSERIALIZABLE` if a value has no JSON form.
 */
export function encodeHeader(header: SessionHeader): Buffer {
  const fields = guardEncoding("The header", () => orderedFields(header, headerKeys));
  if (fields["type"] !== "session" || typeof fields["id"] !== "string") {
    const message = 'A header needs the type "session" and an id that is a string';
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
  }
  return Buffer.from(`${objectText(fields, "The header")}\n`);
}
