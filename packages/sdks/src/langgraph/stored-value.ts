/** The output of a LangGraph serializer as JSON of an entry: readable if it is JSON itself. */
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { decodeLine } from "@branchlog/streaming";
import type { JsonValue } from "@branchlog/streaming";
import { unserializable } from "../json-text.ts";

export type StoredValue =
  | { readonly type: "json"; readonly value: JsonValue }
  | { readonly type: string; readonly base64: string };

/** Throws `ERR_UNSERIALIZABLE` for values that the serializer does not write, such as functions. */
export async function storedValue(
  serde: SerializerProtocol,
  value: unknown,
  what: string,
): Promise<StoredValue> {
  try {
    const [type, bytes] = await serde.dumpsTyped(value);
    const dumped = Buffer.from(bytes);
    if (type !== "json") return { type, base64: dumped.toString("base64") };
    const decoded = decodeLine(Buffer.from(`{"value":${dumped.toString()}}`));
    const parsed = decoded.ok ? decoded.value["value"] : undefined;
    if (parsed === undefined) throw new SyntaxError("the serializer returned no JSON");
    return { type, value: parsed };
  } catch (cause) {
    throw unserializable(what, cause);
  }
}

/** Of a value that `storedValue` made. */
export function loadedValue<T>(serde: SerializerProtocol, stored: StoredValue): Promise<T> {
  return "base64" in stored
    ? serde.loadsTyped(stored.type, Buffer.from(stored.base64, "base64"))
    : serde.loadsTyped("json", JSON.stringify(stored.value));
}
