/**
 * Hints that logs were appended to: notices of the server, and one poll of all watched logs behind
 * them, since a notice may be lost with its connection. A notice is a statement of its own after
 * the append, as within its transaction it would lock the whole database at the commit.
 */
import type { Connections, ListeningConnection } from "./connections.ts";
import { inSchema } from "./schema.ts";

/** Watched logs share these, so that a process listens to few. */
const channelCount = 64;

/** Appends in so short a time share a notice. */
const noticeEveryMs = 5;

interface WatchedLog {
  readonly watchers: Set<() => void>;
  /** Its end at the last poll. */
  end: string | undefined;
}

export interface HintOptions {
  readonly schema: string;
  readonly pollMs: number;
}

export class LogHints {
  readonly #connections: Connections;
  readonly #options: HintOptions;
  readonly #logs = new Map<string, WatchedLog>();
  readonly #notices = new Set<string>();
  #noticeTimer: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #listener: ListeningConnection | "opening" | undefined;
  readonly #channels = new Set<string>();

  constructor(connections: Connections, options: HintOptions) {
    this.#connections = connections;
    this.#options = options;
  }

  /** Keeps the process alive until the returned function is called. */
  watch(id: string, onHint: () => void): () => void {
    const own = (): void => onHint();
    const log = this.#logs.get(id) ?? { watchers: new Set(), end: undefined };
    log.watchers.add(own);
    this.#logs.set(id, log);
    this.#timer ??= setInterval(() => this.#poll(), this.#options.pollMs);
    this.#listen();
    return () => {
      log.watchers.delete(own);
      if (log.watchers.size === 0 && this.#logs.get(id) === log) this.#logs.delete(id);
      if (this.#logs.size === 0) this.#rest();
    };
  }

  /** Notifies other processes: the first append at once, those soon after it together. */
  appended(id: string): void {
    this.#notices.add(id);
    if (this.#noticeTimer === undefined) this.#noticeTimer = this.#notify();
  }

  #notify(): NodeJS.Timeout {
    const ids = [...this.#notices];
    this.#notices.clear();
    const channels = ids.map((id) => this.#channelOf(id));
    // A commit with notices would wait for the disk, and delay concurrent appends.
    const text =
      "SELECT set_config('synchronous_commit', 'off', true), pg_notify(channel, id) " +
      "FROM unnest($1::text[], $2::text[]) t(channel, id)";
    // The poll compensates for a lost notice.
    this.#connections.query(text, [channels, ids]).catch(() => undefined);
    return setTimeout(() => {
      this.#noticeTimer = this.#notices.size === 0 ? undefined : this.#notify();
    }, noticeEveryMs);
  }

  close(): void {
    this.#logs.clear();
    this.#rest();
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (typeof this.#listener === "object") this.#listener.close();
    if (this.#listener !== "opening") this.#listener = undefined;
    this.#channels.clear();
  }

  #channelOf(id: string): string {
    return `${this.#options.schema.slice(0, 40)}.${BigInt(id) % BigInt(channelCount)}`;
  }

  #listen(): void {
    // Of a connection that others use, too, the server would tell them.
    if (!this.#connections.areOwn || this.#listener === "opening") return;
    if (this.#listener === undefined) {
      this.#listener = "opening";
      void this.#open();
      return;
    }
    void this.#listenTo(this.#listener);
  }

  async #open(): Promise<void> {
    try {
      const listener = await this.#connections.listen({
        onNotice: (_channel, payload) => this.#hint(payload),
        onEnd: () => {
          this.#listener = undefined;
          this.#channels.clear();
        },
      });
      if (this.#logs.size === 0) {
        this.#listener = undefined;
        listener.close();
        return;
      }
      this.#listener = listener;
      await this.#listenTo(listener);
    } catch {
      // The next poll tries again.
      this.#listener = undefined;
    }
  }

  async #listenTo(listener: ListeningConnection): Promise<void> {
    try {
      for (const channel of new Set(Array.from(this.#logs.keys(), (id) => this.#channelOf(id)))) {
        if (this.#channels.has(channel)) continue;
        this.#channels.add(channel);
        await listener.listen(channel);
        // Appends before the server began to notify.
        this.#poll();
      }
    } catch {
      listener.close();
      this.#listener = undefined;
      this.#channels.clear();
    }
  }

  #poll(): void {
    this.#listen();
    void this.#compare().catch(() => {
      // It may be back at the next poll, and a reader finds out what is the matter.
      for (const id of this.#logs.keys()) this.#hint(id);
    });
  }

  async #compare(): Promise<void> {
    const ids = [...this.#logs.keys()];
    if (ids.length === 0) return;
    const rows = await this.#connections.query<{ readonly id: string; readonly ends: string }>(
      inSchema("SELECT id, ends FROM SCHEMA.log_ends($1)", this.#options.schema),
      [ids],
    );
    const ends = new Map(rows.map(({ id, ends: end }) => [id, end]));
    for (const id of ids) {
      const log = this.#logs.get(id);
      const end = ends.get(id);
      if (log === undefined || log.end === end) continue;
      log.end = end;
      this.#hint(id);
    }
  }

  #hint(id: string): void {
    for (const onHint of this.#logs.get(id)?.watchers ?? []) onHint();
  }
}
