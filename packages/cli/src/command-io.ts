/** What a command works with besides its options: everything outside that it may touch. */
import type { Output } from "./output.ts";

/** The world as a command sees it; a test hands in one of its own. */
export interface CommandIo {
  /** Results. */
  readonly out: Output;
  /** Everything that is no result: failures, progress. */
  readonly err: Output;
  /** Standard input. Asked for only by a command that reads it. */
  input(): AsyncIterable<Uint8Array>;
  /** Whether somebody is there to answer: standard input is a terminal. */
  readonly isInteractive: boolean;
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds since some moment; never goes back. */
  monotonicMs(): number;
  /** Aborted when the user interrupts the command. */
  readonly signal: AbortSignal;
}

/** 0: fine. 1: the session has damage. Whatever else goes wrong is thrown. */
export type CommandResult = 0 | 1;

/** Writes a value as one line of JSON. */
export function writeJsonLine(out: Output, value: unknown): Promise<void> {
  return out.writeData(`${JSON.stringify(value)}\n`, "json");
}
