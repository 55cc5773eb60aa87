/**
 * Tells events that repeat an item from events that say something of their own. Codex writes what
 * was said twice, as an item for the model and as an event for its interface, in either order.
 */
import { waitingMax } from "./limits.ts";
import type { LineTally } from "./line-tally.ts";

/** The author of a text or thought. */
export type Voice = "user" | "agent" | "reasoning";

/** An event that no item repeats so far. */
export interface WaitingEvent {
  readonly voice: Voice;
  readonly text: string;
  readonly time: string;
  readonly line: number;
}

/** See the file comment. Items count until the next turn. */
export class CodexEvents {
  readonly #tally: LineTally;
  /** How many items said a text that no event repeated. */
  readonly #said = new Map<string, number>();
  #waiting: WaitingEvent[] = [];

  constructor(tally: LineTally) {
    this.#tally = tally;
  }

  /** A turn begins: what was said before is over. */
  begin(): void {
    this.#said.clear();
  }

  /** Takes note of what an item says; an event that waits with the same text is a copy. */
  noteItem(voice: Voice, text: string): void {
    const key = keyOf(voice, text);
    const at = this.#waiting.findIndex((event) => keyOf(event.voice, event.text) === key);
    if (at < 0) {
      this.#said.set(key, (this.#said.get(key) ?? 0) + 1);
      return;
    }
    this.#waiting.splice(at, 1);
    this.#tally.settle("event-copy");
  }

  /** Takes an event: a copy of an item, or one that waits for such an item. */
  noteEvent(event: WaitingEvent): "event-copy" | "held" {
    const key = keyOf(event.voice, event.text);
    const count = this.#said.get(key) ?? 0;
    if (count === 0) {
      this.#waiting.push(event);
      return "held";
    }
    this.#said.set(key, count - 1);
    return "event-copy";
  }

  /** Whether too many events wait. */
  get isFull(): boolean {
    return this.#waiting.length >= waitingMax;
  }

  /** The events that are no copies, as nothing more is to come; only those of some voices. */
  release(voices: readonly Voice[]): WaitingEvent[] {
    const isReleased = ({ voice }: WaitingEvent): boolean => voices.includes(voice);
    const released = this.#waiting.filter(isReleased);
    if (released.length > 0) this.#waiting = this.#waiting.filter((event) => !isReleased(event));
    return released;
  }
}

function keyOf(voice: Voice, text: string): string {
  return `${voice}\n${text.trim()}`;
}
