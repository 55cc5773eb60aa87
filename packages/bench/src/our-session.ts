/** Operations of cases on our sessions: open them, append to them, leave checkpoints. */
import { ok } from "node:assert";
import { type ChildProcess, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
// Registers the agents: transcripts are opened as well.
import "@branchlog/agents";
import { type AppendResult, openSession, type Session } from "@branchlog/core";
import { readCounter } from "@branchlog/streaming";
import { smallMessage } from "./plain-session.ts";

export const jobChild: string = fileURLToPath(new URL("../dist/job-child.js", import.meta.url));

export function openCold(path: string): Promise<Session> {
  return openSession(path, { access: "read", checkpoint: "off" });
}

export function appendMessage(session: Session, i: number): Promise<AppendResult> {
  return session.append({ type: "message", message: smallMessage(i) });
}

export async function appendMessages(session: Session, count: number): Promise<void> {
  for (let first = 0; first < count; first += 10_000) {
    const length = Math.min(10_000, count - first);
    const messages = Array.from({ length }, (_, place) => smallMessage(first + place));
    await session.appendAll(messages.map((message) => ({ type: "message", message }) as const));
  }
}

export async function inFlight(
  count: number,
  width: number,
  work: (i: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const workSome = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: width }, workSome));
}

export function leaveCheckpoint(path: string): void {
  const checkpoint = `${path}.ckpt`;
  ok(!existsSync(checkpoint), "there is a checkpoint before one is made");
  // Another process, so that its memory is not that of this one.
  execFileSync(execPath, [jobChild, "checkpoint", path], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  ok(existsSync(checkpoint), "no checkpoint was left");
}

export async function reopen(
  path: string,
): Promise<{ readonly session: Session; readonly logBytesRead: number }> {
  const before = readCounter.bytes;
  const session = await openSession(path, { access: "read", checkpoint: "read" });
  return { session, logBytesRead: readCounter.bytes - before };
}

export function checkReopened(logBytesRead: number, logBytes: number): void {
  const isShort = logBytesRead <= logBytes / 10;
  ok(isShort, `${logBytesRead} of ${logBytes} bytes of the log were read`);
}

/** Lets a job begin that said that it is ready; what it then says. */
export function runChild(one: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    one.once("exit", (code) => reject(new Error(`an appending process ended with ${code}`)));
    one.once("message", (ms) => resolve(Number(ms)));
    one.send("go");
  });
}
