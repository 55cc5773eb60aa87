/** Tells a ConnectOnion document from a log by what stands at its beginning. Never writes. */
import { engineSettings } from "@branchlog/core/internal";
import type { ConnectonionOptions } from "./connectonion-session.ts";

/** How much of a file is looked at. */
const lookedAtBytes = 64 * 1024;
/** Keys of documents, as they stand at the beginning of a line. */
const keyForm = /^(?:name|created|turns|messages|system_prompt|total_cost)[ \t]*:(?:\s|$)/m;

/**
 * Whether a file is a ConnectOnion document, by its content. False for a log, for what is neither,
 * and for what cannot be read: opening it says why.
 */
export function isConnectonion(path: string, options: ConnectonionOptions = {}): boolean {
  const { fs } = engineSettings(options).ports;
  try {
    if (fs.statSync(path)?.isFile !== true) return false;
    const fd = fs.openSync(path, "read");
    try {
      const bytes = Buffer.alloc(lookedAtBytes);
      const text = bytes.toString("utf8", 0, fs.readSync(fd, bytes, 0, bytes.length, 0));
      // The lines of a log are objects of JSON; what stands inside one is no line of its own.
      return !/^\s*\{/.test(text) && keyForm.test(text);
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return false;
  }
}
