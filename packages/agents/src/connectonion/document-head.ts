/** Tells documents by their first bytes, without a YAML parser. */
import { basename, dirname } from "node:path";
import type { OptionNames } from "@branchlog/streaming";
import type { EngineOptions, FileSystem } from "@branchlog/core/types";
import { engineSettings, nodeFileSystem, requireOptions } from "@branchlog/core/files";

export type ConnectonionOptions = Pick<EngineOptions, "ports" | "lockWaitMs">;

export const connectonionNames: OptionNames<ConnectonionOptions> = {
  ports: true,
  lockWaitMs: true,
};

const headBytes = 64 * 1024;
const keyForm = /^(?:name|created|turns|messages|system_prompt|total_cost)[ \t]*:(?:\s|$)/m;

/** Whether a file is a ConnectOnion document, by its content; false if it is unreadable. */
export function isConnectonion(path: string, options: ConnectonionOptions = {}): boolean {
  const { fs } = engineSettings(requireOptions(options, connectonionNames)).ports;
  return keyForm.test(headOf(fs, path, headBytes));
}

/** Whether it keeps sessions, or evals, in the directory. */
export function isPlace(directory: string): boolean {
  const name = basename(directory);
  return (name === "sessions" || name === "evals") && basename(dirname(directory)) === ".co";
}

/** Whether a document is where ConnectOnion keeps evals, whose turns have another form. */
export function isEval(path: string): boolean {
  return basename(dirname(path)) === "evals";
}

/** Where the runs of an eval are; undefined for a session. */
export function runsDirectory(path: string): string | undefined {
  return isEval(path) ? path.replace(/\.ya?ml$/, "") : undefined;
}

/** The turns may be after a long system prompt. */
const sessionHeadBytes = 1024 * 1024;

/** Whether it has keys that other YAML files lack, so that it is listed. */
export function isSessionDocument(path: string): boolean {
  const head = headOf(nodeFileSystem, path, sessionHeadBytes);
  return /^name[ \t]*:/m.test(head) && /^turns[ \t]*:/m.test(head);
}

/** Empty for an unreadable file, and for a log: the lines of one are JSON objects. */
function headOf(fs: FileSystem, path: string, length: number): string {
  try {
    if (fs.statSync(path)?.isFile !== true) return "";
    const fd = fs.openSync(path, "read");
    try {
      const bytes = Buffer.allocUnsafe(length);
      const text = bytes.toString("utf8", 0, fs.readSync(fd, bytes, 0, length, 0));
      return /^\s*\{/.test(text) ? "" : text.replace(/^\uFEFF/, "");
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return "";
  }
}
