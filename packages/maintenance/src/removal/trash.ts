/**
 * The trash of the desktop, by the command `trash` if there is one, as pi uses it. What it does not
 * take is the caller's to unlink.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { trashMsMax } from "./limits.ts";

/** Whether a file went to the trash. Throws nothing. */
export async function moveToTrash(path: string): Promise<boolean> {
  try {
    // An absolute path is no option of the command.
    await promisify(execFile)("trash", [path], { timeout: trashMsMax });
    return !existsSync(path);
  } catch {
    // There is no such command, or it failed.
    return false;
  }
}
