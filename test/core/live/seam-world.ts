/**
 * A log in memory and a session that reads it, each of whose reads waits until it is let on; what
 * may happen to the log meanwhile; and the judgement of what a subscriber was given.
 */
import { isBranchlogError, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import type { EntryEvent } from "@branchlog/core/live";
import type { FileSystem } from "@branchlog/core/testing";
import { Engine } from "@branchlog/core/engine";
import { observedFileSystem } from "../../support/observed-file-system.ts";
import { path, say, turns, World } from "./support.ts";
import { appendTo } from "../../support/append-to.ts";

/** Releases, one by one, those that wait at it; once it is open, none waits any more. */
class Gate {
  #waiting: (() => void)[] = [];
  #isOpen = true;

  get waiting(): number {
    return this.#waiting.length;
  }

  async pass(): Promise<void> {
    if (this.#isOpen) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  letOn(at: number): void {
    for (const resolve of this.#waiting.splice(at, 1)) resolve();
  }

  close(): void {
    this.#isOpen = false;
  }

  open(): void {
    this.#isOpen = true;
    while (this.#waiting.length > 0) this.letOn(0);
  }
}

/** Whether a read that waits has its bytes already, or takes them when it is let on. */
export type ReadTime = "before it waits" | "after it waited";

/** What gives events to a sink; returns what ends it. */
export type Source = (world: SeamWorld, sink: Sink) => () => Promise<unknown>;

/** What a subscriber was given. */
export interface Sink {
  readonly events: EntryEvent[];
  /** "complete", or an error. */
  readonly ends: unknown[];
}

/** The log as it is before anything happens. */
export interface Start {
  readonly version: 1 | 3;
  /** Entries, in runs that are read with one call each. */
  readonly runs: readonly number[];
  /** The revision to begin with. */
  readonly from: number;
}

/** Rows further apart than this are not read with one call. */
const gap = `${" ".repeat(17 * 1024)}\n`;

/** See the file comment. */
export class SeamWorld extends World {
  readonly gate = new Gate();
  readonly from: number;
  /** Texts of the entries of logs that were replaced. */
  readonly generations: string[][] = [];
  /** What should not have been thrown. */
  readonly problems: unknown[] = [];
  readonly #sessions: Session[] = [];
  #isClosed = false;
  #lost: Buffer | undefined;

  private constructor(from: number) {
    super();
    this.from = from;
  }

  static async start({ version, runs, from }: Start, readTime: ReadTime): Promise<SeamWorld> {
    const world = new SeamWorld(from);
    world.fs.writeFileSync(path, Buffer.from(textOf(version, runs)));
    const fs = gated(world.fs, world.gate, readTime);
    const options = { access: "append", bodyCacheBytesMax: 0 } as const;
    world.#sessions.push(
      await openSession(path, { ...options, ports: { ...world.ports, fs } }),
      await world.open(),
    );
    world.gate.close();
    return world;
  }

  /** The session that is watched. */
  get own(): Session {
    return this.#sessions[0] ?? fail("no session");
  }

  get other(): Session {
    return this.#sessions[1] ?? fail("no other session");
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Lets something go on by itself; a log that is gone may make it fail, but nothing else may. */
  begin(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      const isExpected = this.#isClosed || this.generations.length > 0;
      if (!isExpected || !isBranchlogError(error)) this.problems.push(error);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.begin(this.own.close());
  }

  /** Bytes that another program appends without a lock. */
  raw(text: string): void {
    if (this.fs.statSync(path) !== null) appendTo(this.fs, path, text);
  }

  /** Changes the lines of the log out of band: into the same file, or another in its place. */
  rewrite(linesOf: (lines: string[]) => string[], isReplaced = false): void {
    if (this.fs.statSync(path) === null) return;
    this.generations.push(this.texts());
    const [header = "", ...lines] = this.fs.readFileSync(path).toString().split("\n");
    const bytes = Buffer.from(
      [header, ...linesOf(lines.filter((line) => line.trim() !== "")), ""].join("\n"),
    );
    this.fs.writeFileSync(isReplaced ? `${path}.new` : path, bytes);
    if (isReplaced) this.fs.renameSync(`${path}.new`, path);
  }

  remove(): void {
    if (this.fs.statSync(path) === null) return;
    this.generations.push(this.texts());
    this.#lost = this.fs.readFileSync(path);
    this.fs.unlinkSync(path);
  }

  /** Everything continues, and what is stored is found. */
  async settle(sink: Sink): Promise<void> {
    this.gate.open();
    await turns();
    if (this.fs.statSync(path) === null) this.fs.writeFileSync(path, this.#lost ?? Buffer.alloc(0));
    for (let before = -1; before !== sink.events.length;) {
      before = sink.events.length;
      this.hints.tell(path);
      this.clock.advance(1000);
      await turns(6);
    }
  }

  /** All entries of the log as a new reader gets them, as text. */
  texts(): string[] {
    const { index, bodies, log } = Engine.openSync(path, { ports: this.ports });
    const rows = Array.from({ length: Math.min(index.count, log.state.revision) }, (_, row) => row);
    return rows.map((row) => JSON.stringify(bodies.entrySync(row)));
  }
}

function fail(message: string): never {
  throw new Error(message);
}

function gated(inner: FileSystem, gate: Gate, readTime: ReadTime): FileSystem {
  const fs = observedFileSystem(inner, (_, effect) => effect());
  return {
    ...fs,
    read: async (...call) => {
      if (readTime === "after it waited") await gate.pass();
      const count = await fs.read(...call);
      if (readTime === "before it waits") await gate.pass();
      return count;
    },
  };
}

const timestamp = "2026-01-01T00:00:00.000Z";

function textOf(version: 1 | 3, runs: readonly number[]): string {
  const header = { type: "session", ...(version === 3 && { version }), id: "s", timestamp };
  let count = 0;
  const entry = (): string => {
    count += 1;
    const parentId = count === 1 ? null : `e${count - 1}`;
    const place = version === 3 ? { id: `e${count}`, parentId } : {};
    const message = { role: "user", content: `${count}`, timestamp: 1 };
    return `${JSON.stringify({ type: "message", ...place, timestamp, message })}\n`;
  };
  const parts = runs.map((length) => Array.from({ length }, entry).join(""));
  return `${JSON.stringify({ ...header, cwd: "/w" })}\n${parts.join(gap)}`;
}

/** What may happen at any moment; each returns at once, and continues by itself. */
export const acts: Readonly<Record<string, (world: SeamWorld) => void>> = {
  "it appends": (world) => world.begin(world.own.append(say("own"))),
  "it appends a batch": (world) => world.begin(world.own.appendAll([say("own"), say("too")])),
  "another appends, and hints at it": (world) => {
    world.begin(world.other.append(say("foreign")).then(() => world.hints.tell(path)));
  },
  "another appends, and a poll finds it": (world) => {
    world.begin(world.other.append(say("foreign")).then(() => world.clock.advance(1000)));
  },
  "another appends, and nothing hints at it": (world) => {
    world.begin(world.other.append(say("foreign")));
  },
  "a record comes without its end": (world) => {
    const id = `r${world.fs.callCount("writeSync")}`;
    world.raw(JSON.stringify({ type: "custom", customType: "x", id, parentId: null, timestamp }));
    world.hints.tell(path);
  },
  "it moves": (world) => world.begin(world.own.moveTo(null)),
  "it is rewritten in place": (world) => {
    world.rewrite((lines) => lines.slice(1));
    world.hints.tell(path);
  },
  "it is replaced, and nothing hints at it": (world) => {
    world.rewrite((lines) => lines.toSpliced(1, 1), true);
  },
  "it is cut": (world) => {
    world.rewrite((lines) => lines.slice(0, lines.length / 2));
    world.hints.tell(path);
  },
  "it is gone": (world) => {
    world.remove();
    world.hints.tell(path);
  },
  "it is closed": (world) => world.close(),
};

/** What is wrong with what a subscriber was given; undefined if nothing is. */
export function violation(world: SeamWorld, { events, ends }: Sink): string | undefined {
  if (world.problems.length > 0) return `failed: ${String(world.problems[0])}`;
  const final = world.texts();
  const segments: (EntryEvent & { kind: "entry" })[][] = [[]];
  for (const event of events) {
    if (event.kind === "reset") segments.push([]);
    if (event.kind === "entry") segments.at(-1)?.push(event);
  }
  for (const [at, segment] of segments.entries()) {
    const first = at === 0 ? world.from : 1;
    const isLast = at === segments.length - 1;
    const texts = segment.map(({ entry }) => JSON.stringify(entry));
    const revisions = segment.map(({ revision }) => revision);
    if (revisions.some((revision, n) => revision !== first + n))
      return `revisions ${revisions.join()}`;
    const isOf = (log: string[]): boolean => texts.every((text, n) => text === log[first - 1 + n]);
    if (![final, ...world.generations].some(isOf)) return `entries of no log: ${texts.join("\n")}`;
    const wanted = Math.max(0, (world.isClosed ? world.own.revision : final.length) + 1 - first);
    const isWhole = texts.length === wanted && (world.isClosed || isOf(final));
    const isCutOff = world.isClosed && world.generations.length > 0 && ends[0] !== "complete";
    if (isLast && !isWhole && !isCutOff) return `${texts.length} entries instead of ${wanted}`;
  }
  const isEndExpected = (end: unknown): boolean =>
    end === "complete" || (world.generations.length > 0 && isBranchlogError(end, "ERR_LOG_GONE"));
  if (ends.length !== (world.isClosed ? 1 : 0)) return `ended ${ends.length} times`;
  return ends.every(isEndExpected) ? undefined : `ended with ${String(ends[0])}`;
}
