/**
 * The events of one page, as server-sent events. Events that a slow page has not read are merged:
 * they need the memory of one change per session.
 */
import type { ServerEvent, SessionItem } from "./api.ts";
import type { SessionDirectory } from "./session-directory.ts";

/** The interval of keep-alive messages, to detect closed pages. */
const heartbeatMs = 15_000;

export class EventStream {
  readonly #directory: SessionDirectory;
  readonly #key: string | undefined;
  readonly #changed = new Map<string, SessionItem>();
  readonly #removed = new Set<string>();
  #isListChanged = false;
  #session: ServerEvent | undefined;
  #wake: () => void = () => undefined;
  #ends: (() => void)[] = [];
  #isEnded = false;
  #lastId = 0;

  /**
   * @param key The session that the page shows.
   * @param onEnd Called once.
   */
  constructor(directory: SessionDirectory, key: string | undefined, onEnd: () => void) {
    this.#directory = directory;
    this.#key = key;
    this.#ends.push(onEnd);
  }

  /** To be read by the page. Cancelling it ends everything. */
  stream(): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#start();
          // The page knows now that it is connected.
          controller.enqueue(encoder.encode("retry: 1000\n\n"));
        },
        pull: async (controller) => {
          const text = await this.#next();
          if (text === undefined) controller.close();
          else controller.enqueue(encoder.encode(text));
        },
        cancel: () => this.end(),
      },
      { highWaterMark: 1 },
    );
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const end of this.#ends) end();
    this.#ends = [];
    this.#wake();
  }

  #start(): void {
    this.#ends.push(
      this.#directory.onChange(({ changed, removed }) => {
        for (const item of changed) {
          this.#changed.set(item.key, item);
          this.#removed.delete(item.key);
        }
        for (const key of removed) {
          this.#changed.delete(key);
          this.#removed.add(key);
        }
        this.#isListChanged = true;
        this.#wake();
      }),
    );
    if (this.#key !== undefined) void this.#watch(this.#key);
  }

  async #watch(key: string): Promise<void> {
    try {
      const held = this.#directory.hold(key);
      this.#ends.push(held.end);
      const shown = await held.session;
      if (this.#isEnded) return;
      const tell = (): void => {
        const { generation, rowCount, session } = shown;
        this.#session = { kind: "session", key, generation, rowCount, leafId: session.leaf };
        this.#wake();
      };
      const gone = (error: unknown): void => this.#tellGone(key, error);
      this.#ends.push(shown.watch(tell, gone));
    } catch (error) {
      this.#tellGone(key, error);
    }
  }

  #tellGone(key: string, error: unknown): void {
    const message = error instanceof Error ? error.message : "The session was closed.";
    this.#session = { kind: "gone", key, message };
    this.#wake();
  }

  /** Undefined at the end. */
  async #next(): Promise<string | undefined> {
    for (;;) {
      if (this.#isEnded) return undefined;
      const events = this.#take();
      if (events.length > 0) return events.map((event) => this.#text(event)).join("");
      const isWoken = await this.#woken();
      if (!isWoken && !this.#isEnded) return ": still here\n\n";
    }
  }

  #woken(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), heartbeatMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  #take(): ServerEvent[] {
    const events: ServerEvent[] = [];
    if (this.#isListChanged) {
      const [changed, removed] = [[...this.#changed.values()], [...this.#removed]];
      events.push({ kind: "sessions", changed, removed, isComplete: this.#directory.isComplete });
      this.#changed.clear();
      this.#removed.clear();
      this.#isListChanged = false;
    }
    if (this.#session !== undefined) events.push(this.#session);
    this.#session = undefined;
    return events;
  }

  #text(event: ServerEvent): string {
    this.#lastId += 1;
    return `id: ${this.#lastId}\ndata: ${JSON.stringify(event)}\n\n`;
  }
}
