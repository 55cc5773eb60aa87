/**
 * The JSON text of a caller's value. The one place where user code (toJSON, getters, proxies) runs
 * while an entry is made; whatever it throws comes out as `ERR_UNSERIALIZABLE`.
 */
import { BranchlogError } from "../errors.ts";

/**
 * `JSON.stringify(fields)`: the text of one JSON object.
 *
 * @param what Names the object in the error.
 * @throws `ERR_UNSERIALIZABLE` for a cycle, a BigInt, a throwing toJSON or getter, nesting too deep
 * for the stack, a text over V8's string limit; the cause says which.
 */
export function objectText(fields: Readonly<Record<string, unknown>>, what: string): string {
  // JSON.stringify may give anything, also undefined, if someone gave all objects a toJSON.
  const text: string | undefined = guardEncoding(what, () => JSON.stringify(fields));
  if (text?.startsWith("{")) return text;
  throw new BranchlogError("ERR_UNSERIALIZABLE", `${what} is not written as an object`);
}

const plainText = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** `JSON.stringify(text)`, faster for short texts with nothing to escape, such as ids. */
export function stringText(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/**
 * The result of `encode`, which may run code of the caller or outgrow what V8 can hold.
 *
 * @throws `ERR_UNSERIALIZABLE` with what was thrown as its cause; nothing else, whatever it was.
 */
export function guardEncoding<T>(what: string, encode: () => T): T {
  try {
    return encode();
  } catch (cause) {
    const message = `${what} cannot be written as JSON${reasonOf(cause)}`;
    throw new BranchlogError("ERR_UNSERIALIZABLE", message, { cause });
  }
}

function reasonOf(cause: unknown): string {
  try {
    return cause instanceof Error ? `: ${cause.message}` : "";
  } catch {
    // A thrown proxy, or a message getter that throws: the cause itself is still handed on.
    return "";
  }
}
