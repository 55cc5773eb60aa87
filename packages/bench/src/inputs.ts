/**
 * The generated sessions that cases ask for, and their copies in the scratch directory, so that
 * what a subject leaves beside a session goes with the run, and none of an earlier run is found.
 */
import { copyFileSync, linkSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openSession, type Session } from "@branchlog/core";
import type { CaseInput, InputSpec, Scale } from "./bench-case.ts";

/** An input for each scale. */
export type ScaledInput = (scale: Scale) => InputSpec;

const seed = 7;

/** Turns of an agent, or what else the mix is; of so many bytes. */
export function sessionOf(
  full: number,
  quick: number,
  mix: NonNullable<InputSpec["mix"]> = "message-heavy",
): ScaledInput {
  return (scale) => ({ mix, bytes: scale === "full" ? full : quick, seed });
}

/** So many short messages in a row, or all below the first. */
export function messagesOf(shape: "chain" | "fan-out", full: number, quick: number): ScaledInput {
  return (scale) => ({ shape, entries: scale === "full" ? full : quick, seed });
}

/** 1 GB; quick: 20 MB. */
export const largeSession: ScaledInput = sessionOf(1_000_000_000, 20_000_000);

/** 100 MB; quick: 5 MB. */
export const middleSession: ScaledInput = sessionOf(100_000_000, 5_000_000);

/** 2,000 sessions of 437 kB each; quick: 20 of 50 kB. */
export function sessionDirectory(scale: Scale): InputSpec {
  return { ...sessionOf(437_000, 50_000)(scale), files: scale === "full" ? 2_000 : 20 };
}

/** Where a subject has a session of its own. */
export function scratchLog({ scratch }: CaseInput): string {
  return join(scratch, "session.jsonl");
}

/** A copy of the session, to be appended to. */
export function copiedLog(input: CaseInput): string {
  copyFileSync(input.path, scratchLog(input));
  return scratchLog(input);
}

/** The session itself under a name of its own, not to be changed. Throws if it is there already. */
export function ownLog(input: CaseInput): string {
  link(input.path, scratchLog(input));
  return scratchLog(input);
}

/** The directory of sessions, without what earlier lists left in it; not to be changed. */
export function ownDirectory({ path, scratch }: CaseInput): string {
  const own = join(scratch, "sessions");
  mkdirSync(own);
  for (const file of readdirSync(path)) {
    if (file.endsWith(".jsonl")) link(join(path, file), join(own, file));
  }
  return own;
}

/** Opens a session to read it, with nothing cached. */
export function openCold(path: string): Promise<Session> {
  return openSession(path, { access: "read", checkpoint: "off" });
}

function link(path: string, own: string): void {
  try {
    linkSync(path, own);
  } catch {
    // On another volume, or where there are no links.
    copyFileSync(path, own);
  }
}
