/** The ports of a command: streams, clock, signal. */
import type { Output } from "./output.ts";

/** The environment of a command; tests pass their own. */
export interface CommandIo {
  /** Results. */
  readonly out: Output;
  /** All other output: failures, progress. */
  readonly err: Output;
  /** Standard input. Opened only by a command that reads it. */
  input(): AsyncIterable<Uint8Array>;
  /** Whether questions can be answered: standard input is a terminal. */
  readonly isInteractive: boolean;
  /** Epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonicMs(): number;
  /** Aborted when the user interrupts the command. */
  readonly signal: AbortSignal;
}

/** 0: success. 1: the session has damage. Every other failure is thrown. */
export type CommandResult = 0 | 1;

/** Writes a value as one line of JSON. */
export function writeJsonLine(out: Output, value: unknown): Promise<void> {
  return out.writeData(`${JSON.stringify(value)}\n`, "json");
}
