/** Messages as one line of JSON text that YAML takes as it stands. Pure. */
import type { JsonValue } from "@branchlog/streaming";

/** JSON text of characters that are printable in every version of YAML. */
export function asciiJson(messages: readonly JsonValue[]): string {
  const escape = (unit: string): string => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  };
  return JSON.stringify(messages).replace(/[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g, escape);
}
