/** Any text as a name of a file, or as a part of the name of a log in a store, and back. Pure. */

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
