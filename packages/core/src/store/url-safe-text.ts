/** Text of 64 characters that mean nothing in paths and addresses, as nanoid makes its ids of. */

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** One character for each byte, all equally likely if the bytes are. */
export function urlSafeText(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += alphabet.charAt(byte & 63);
  return text;
}
