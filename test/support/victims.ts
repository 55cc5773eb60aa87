/**
 * Real processes that append to a log and can be killed, stopped, or stopped by themselves at a
 * given file-system call. The parent keeps the ledger: what a process said was acknowledged before
 * it died. They run on the built packages.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { FileSystem } from "@branchlog/core/testing";

const script = fileURLToPath(new URL("victim-process.mjs", import.meta.url));

/** What a process does. */
export interface VictimOptions {
  readonly path: string;
  /** The `customType` of its entries. */
  readonly name: string;
  /**
   * Batches one by one; single appends, `batch` of them in flight; a blocking manager; or plain
   * `appendFileSync`, without lock.
   */
  readonly way: "batches" | "together" | "blocking" | "peer";
  /** Batches, or appends, until it ends by itself. Default: more than it lives to make. */
  readonly count?: number;
  readonly batch?: number;
  /** Bytes of the longest text of an entry. Default 400. */
  readonly bytesMax?: number;
  /** It sends itself a signal before a call; stopped, it continues once it is told to. */
  readonly pause?: PausePoint;
  /** URL of a session layer, with pi's interface, to block with instead of ours. */
  readonly sessionLayer?: string;
  /** The Node to run it with. Default: the one that runs the test. */
  readonly node?: string;
  /** It continues after an append that was rejected. */
  readonly mayFail?: boolean;
}

/** Once it is ready: before the call of this name that comes after so many others of it. */
export interface PausePoint {
  readonly call: keyof FileSystem | "any";
  readonly after: number;
  readonly signal: "SIGSTOP" | "SIGKILL";
}

/** An entry that a process was told is in the log. */
export interface Acknowledged {
  readonly id: string;
  readonly name: string;
  readonly data: { readonly i: number; readonly n: number; readonly text: string };
  /** Where its line starts; undefined where the way of appending does not say. */
  readonly offset: number | undefined;
}

/** An append that a process was told has failed. */
export interface Rejected {
  readonly name: string;
  readonly i: number;
  readonly written: readonly string[];
}

/** Staleness of the locks in these tests: the shortest there is. */
export const staleMs = 2000;

interface Facts {
  readonly i: number;
  readonly ids: readonly string[];
  readonly offsets: readonly number[];
}

type Line = readonly [word: string, facts: Facts | string | null];

/**
 * How victims append; with long lines, since a write of several pages may be truncated by a death.
 */
export const victimKinds: readonly Pick<VictimOptions, "way" | "batch" | "bytesMax">[] = [
  { way: "batches", batch: 3 },
  { way: "blocking" },
  { way: "together", batch: 8 },
  { way: "batches", batch: 8, bytesMax: 15_000 },
];

/** See the file comment. Ended when the test has ended. */
export class Victim {
  readonly name: string;
  /** Resolves to the exit code, or null after a signal; rejects with what it said on stderr. */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #options: Required<Pick<VictimOptions, "batch" | "bytesMax" | "way">>;
  readonly #lines: Line[] = [];
  #rest = "";

  constructor(options: VictimOptions) {
    const { batch = 1, bytesMax = 400, count = 1_000_000, way, node = process.execPath } = options;
    this.name = options.name;
    this.#options = { batch, bytesMax, way };
    const all = JSON.stringify({ staleMs, ...options, batch, bytesMax, count });
    this.#child = spawn(node, [script, all], { stdio: "pipe" });
    let complaints = "";
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#hear(chunk.toString()));
    this.#child.stderr?.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
    this.ended = once(this.#child, "close").then(([code]) => {
      if (complaints !== "") throw new Error(`${options.name}: ${complaints}`);
      return typeof code === "number" ? code : null;
    });
    // The one that waits for its end gets it; until then it is unhandled.
    this.ended.catch(() => undefined);
    onTestFinished(() => void this.#child.kill("SIGKILL"));
  }

  /**
   * Takes in what it said; a line without its end may be truncated by a kill and does not count.
   */
  #hear(text: string): void {
    const lines = `${this.#rest}${text}`.split("\n");
    this.#rest = lines.pop() ?? "";
    // Decoding boundary: what our own script has just printed.
    for (const line of lines) this.#lines.push(JSON.parse(line) as Line);
  }

  /** Every entry that it said is acknowledged. */
  get acknowledged(): Acknowledged[] {
    const { bytesMax, way } = this.#options;
    return this.#lines.flatMap(([word, facts]) => {
      if (word !== "acknowledged" || facts === null || typeof facts === "string") return [];
      return facts.ids.map((id, n) => {
        const at = way === "batches" ? n : 0;
        const text = "x".repeat((facts.i * 7919 + at * 104_729) % bytesMax);
        const data = { i: facts.i, n: at, text };
        return { id, name: this.name, data, offset: facts.offsets[n] };
      });
    });
  }

  /** Every append that it said has failed. */
  get rejected(): Rejected[] {
    return this.#lines.flatMap(([word, facts]) => {
      if (word !== "rejected" || facts === null || typeof facts === "string") return [];
      return { name: this.name, i: facts.i, written: facts.ids };
    });
  }

  /** Resolves once it said so many of a word, or has ended. */
  async said(word: "ready" | "paused" | "resumed" | "acknowledged", times = 1): Promise<void> {
    const isMissing = (): boolean => this.#lines.filter(([one]) => one === word).length < times;
    while (isMissing() && this.isAlive) {
      await Promise.race([once(this.#child.stdout ?? this.#child, "data"), this.ended]);
    }
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Kills it, and waits until it has ended. */
  async kill(): Promise<void> {
    this.killNow();
    await this.ended;
  }

  /** Sends it the signal that kills it. */
  killNow(): void {
    this.#child.kill("SIGKILL");
  }

  /** Lets it go on from where it stopped. */
  resume(): void {
    this.#child.stdin?.write("!");
    const goOn = (): boolean => this.#child.kill("SIGCONT");
    goOn();
    // It says that it pauses just before it stops: a signal in between would be for nothing.
    const again = setInterval(goOn, 5);
    void this.said("resumed").finally(() => clearInterval(again));
  }
}
