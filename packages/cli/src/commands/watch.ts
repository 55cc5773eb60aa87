/** `branchlog watch`: sessions of every agent, of a directory or of a store, live. */
import { fileOfAddress } from "@branchlog/core/rows";
import { knownPlaces } from "@branchlog/library";
import type { ListedSession } from "@branchlog/library";
import { sessions$ } from "@branchlog/library/live";
import type { LiveSessions, SessionListDifference } from "@branchlog/library/live";
import { writeJsonLine, writeUnlisted } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { UsageError, describeFailure } from "../failure.ts";
import { shownWord } from "../path-form.ts";
import { addressedStore } from "../stored-session.ts";
import { oneLine, wholeLine } from "../text/clean-text.ts";
import { countText } from "../text/quantities.ts";
import { changeRecord } from "../text/records.ts";
import { sessionLine } from "../text/session-text.ts";
import type { SessionEventKind } from "../text/session-text.ts";

export interface WatchOptions {
  /** Undefined: the places of the agents, and everything below them. */
  readonly directory: string | undefined;
  readonly json: boolean;
  /** Whether sessions in subdirectories are included. */
  readonly recursive: boolean;
  readonly noSave: boolean;
}

/** Runs the command. Only an interruption or a closed output ends it. */
export async function watchCommand(options: WatchOptions, io: CommandIo): Promise<CommandResult> {
  const shown = new Shown(options, io);
  const { directory, recursive: subdirectories, noSave } = options;
  if (directory !== undefined && fileOfAddress(directory).id !== undefined) {
    throw new UsageError(`${directory} is one session; branchlog tail -f follows it.`);
  }
  const place =
    directory === undefined ? knownPlaces() : ((await addressedStore(directory)) ?? directory);
  const sessions = sessions$(place, {
    subdirectories,
    catalog: noSave ? "read" : "auto",
  });
  let wake = (): void => undefined;
  const subscription = sessions.subscribe((list) => {
    shown.add(list);
    wake();
  });
  const interrupt = (): void => wake();
  io.signal.addEventListener("abort", interrupt, { once: true });
  try {
    for (;;) {
      io.signal.throwIfAborted();
      const next = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await shown.write();
      await next;
    }
  } finally {
    io.signal.removeEventListener("abort", interrupt);
    subscription.unsubscribe();
  }
}

/** Events to show, merged while the output is slow. */
class Shown {
  readonly #options: WatchOptions;
  readonly #io: CommandIo;
  readonly #pending = new PendingEvents();
  #last: LiveSessions | undefined;
  #status: LiveSessions["status"]["kind"] = "catching-up";
  #hasBegun = false;
  /** Names that are not UTF-8 and were reported. */
  readonly #unlisted = new Set<string>();

  constructor(options: WatchOptions, io: CommandIo) {
    this.#options = options;
    this.#io = io;
  }

  add(list: LiveSessions): void {
    this.#last = list;
    this.#pending.add(list);
  }

  /** Throws the error if the directory could never be read. */
  async write(): Promise<void> {
    const { out } = this.#io;
    for (const event of this.#pending.take()) await this.#writeEvent(event);
    if (this.#last !== undefined) {
      await this.#writeUnlisted(this.#last);
      await this.#writeStatus(this.#last);
    }
    await out.flush();
  }

  async #writeEvent({ kind, session }: SessionEvent): Promise<void> {
    const { out } = this.#io;
    if (this.#options.json) return writeJsonLine(out, { kind, session: sessionJson(session) });
    if (!out.isTerminal) return out.write(changeRecord(kind, session));
    const timeMs = this.#hasBegun ? this.#io.now() : session.modifiedMs;
    return out.write(
      sessionLine(kind, session, { timeMs, columns: out.columns, style: out.style }),
    );
  }

  async #writeUnlisted({ unlisted }: LiveSessions): Promise<void> {
    const added = unlisted.filter((path) => !this.#unlisted.has(path));
    for (const path of added) this.#unlisted.add(path);
    await writeUnlisted(added, this.#options.json, this.#io);
  }

  async #writeStatus({ status, sessions }: LiveSessions): Promise<void> {
    if (status.kind === this.#status) return;
    if (status.kind === "stalled" && !this.#hasBegun) throw status.error;
    this.#status = status.kind;
    if (status.kind === "live") this.#hasBegun = true;
    const { out, err } = this.#io;
    if (this.#options.json) {
      const error = status.kind === "stalled" ? { error: describeFailure(status.error) } : {};
      return writeJsonLine(out, { kind: status.kind, ...error, sessions: sessions.length });
    }
    const { directory = "the places where agents keep them" } = this.#options;
    const place = shownWord(directory);
    if (status.kind === "stalled") {
      await err.write(`${wholeLine(describeFailure(status.error).message)}\n`);
    } else {
      await err.write(
        `${countText(sessions.length, "session")} in ${oneLine(place, 400)}, watching\n`,
      );
    }
    return err.flush();
  }
}

/** A session in `--json`. */
function sessionJson({ path, header, name, summary, ...session }: ListedSession): object {
  const { id, cwd, timestamp, parentSession } = header;
  const facts = { id, name, cwd, parentSession, created: timestamp };
  const modified = new Date(session.modifiedMs).toISOString();
  const { messageCount, firstMessage } = summary;
  const { sizeBytes } = session;
  return { path, ...facts, modified, messageCount, firstMessage, sizeBytes };
}

interface SessionEvent {
  readonly kind: SessionEventKind;
  readonly session: ListedSession;
}

/** Merged to one event per session: a slow reader gets fewer. */
export class PendingEvents {
  readonly #events = new Map<string, SessionEvent>();

  add({ added, changed, removed }: SessionListDifference): void {
    for (const session of removed) this.#add("removed", session);
    for (const session of added) this.#add("added", session);
    for (const session of changed) this.#add("changed", session);
  }

  /** Returns and clears the pending events, the least recently changed session first. */
  take(): SessionEvent[] {
    const events = [...this.#events.values()];
    this.#events.clear();
    return events.sort((one, other) => one.session.modifiedMs - other.session.modifiedMs);
  }

  #add(kind: SessionEventKind, session: ListedSession): void {
    const known = this.#events.get(session.path)?.kind;
    const merged = known === undefined ? kind : mergedKind(known, kind);
    if (merged === undefined) this.#events.delete(session.path);
    else this.#events.set(session.path, { kind: merged, session });
  }
}

/** Merges two events that the reader has not seen; undefined if they cancel out. */
function mergedKind(one: SessionEventKind, other: SessionEventKind): SessionEventKind | undefined {
  if (one === "added") return other === "removed" ? undefined : "added";
  return other === "added" ? "changed" : other;
}
