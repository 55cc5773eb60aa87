/** Any text as a name of a file, or as a part of the name of a log in a store, and back. Pure. */
import { createHash } from "node:crypto";

/** Letters, digits and `-` are themselves, any other byte is `_` and two digits. */
export function encodedName(text: string): string {
  return Array.from(Buffer.from(text), (byte) => {
    const letter = String.fromCharCode(byte);
    return /[A-Za-z0-9-]/.test(letter) ? letter : `_${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}

export function decodedName(name: string): string {
  const bytes = name.replaceAll(/_([\da-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(bytes, "latin1").toString();
}

/** Names of directories are long, and those in a store end after 200 characters. */
const shortUnitsMax = 80;

/** An encoded name; of one that is long its start, and a hash of all of it. */
export function shortName(name: string): string {
  if (name.length <= shortUnitsMax) return name;
  // No encoded name has an underscore before an "x".
  const hash = `_x${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
  return name.slice(0, shortUnitsMax - hash.length) + hash;
}
