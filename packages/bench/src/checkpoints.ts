/** A checkpoint that another process has left beside a log, and opening the log with it. */
import { ok } from "node:assert";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { openSession, type Session } from "@branchlog/core";
import { readCounter } from "@branchlog/streaming";

const child = fileURLToPath(new URL("../dist/checkpoint-child.js", import.meta.url));
/** Of the log, when a checkpoint is used: the header, and edges to tell that it is the same. */
const shareMax = 0.1;

/** An opened session, and how much of its log was read for that. */
export interface Reopened {
  readonly session: Session;
  readonly logBytesRead: number;
}

/** Leaves a checkpoint. Throws if there is one already, or none afterwards. */
export function leaveCheckpoint(path: string): void {
  const checkpoint = `${path}.ckpt`;
  ok(!existsSync(checkpoint), "there is a checkpoint before one is made");
  // Another process, so that its memory is not that of this one.
  execFileSync(execPath, [child, path], { stdio: ["ignore", "ignore", "inherit"] });
  ok(existsSync(checkpoint), "no checkpoint was left");
}

/** Opens the log with the checkpoint beside it. */
export async function reopen(path: string, checkpoint: "off" | "read"): Promise<Reopened> {
  const before = readCounter.bytes;
  const session = await openSession(path, { access: "read", checkpoint });
  return { session, logBytesRead: readCounter.bytes - before };
}

/** Throws unless the log was read as is to be expected with, or without, a checkpoint. */
export function checkReopened(logBytesRead: number, logBytes: number, isWith: boolean): void {
  const isShort = logBytesRead <= logBytes * shareMax;
  ok(isShort === isWith, `${logBytesRead} of ${logBytes} bytes of the log were read`);
}
