/**
 * The texts of a turn, by speaker. Since 0.146 a rollout may have a message three times: as an
 * item, as an event, and as a completed item, which may have less or more text than the others.
 * Pure.
 */
import { savedText } from "@branchlog/core/rows";
import type { SavedFields } from "@branchlog/core/rows";

export type Voice = "user" | "agent";

/** As far as texts are compared, and how many of a turn. */
const textUnitsMax = 4_000;
const textsMax = 512;

export class TurnTexts {
  #user: string[] = [];
  #agent: string[] = [];
  /** Texts of completed messages that no other form has had yet, by form. */
  #awaited: string[] = [];

  /** No earlier text is repeated from here on. */
  clear(): void {
    this.#user = [];
    this.#agent = [];
    this.#awaited = [];
  }

  /** An answer can repeat the text of one before the prompt. */
  beginPrompt(): void {
    this.#agent = [];
  }

  add(voice: Voice, text: string): void {
    const texts = this.#of(voice);
    texts.push(comparable(text));
    if (texts.length > textsMax) texts.shift();
  }

  /** Whether a completed message repeats items or events of the turn. */
  hasSaid(voice: Voice, text: string): boolean {
    const wanted = comparable(text);
    const said = this.#of(voice);
    // Images alone: the message of the turn has them.
    if (wanted === "") return said.length > 0;
    return said.includes(wanted) || isJoined(wanted, said);
  }

  /** A completed message that is the first with this text; an item and an event may follow. */
  await(voice: Voice, text: string): void {
    this.add(voice, text);
    for (const form of ["item", "event"] as const) this.#awaited.push(keyOf(form, voice, text));
  }

  /** Whether an item, or an event, repeats a completed message; each does so once. */
  isAwaited(form: "item" | "event", voice: Voice, text: string): boolean {
    const at = this.#awaited.indexOf(keyOf(form, voice, text));
    if (at >= 0) this.#awaited.splice(at, 1);
    return at >= 0;
  }

  save(): object {
    return { user: this.#user, agent: this.#agent, awaited: this.#awaited };
  }

  restore(saved: SavedFields): void {
    this.#user = [...saved.list("user", textsMax, savedText)];
    this.#agent = [...saved.list("agent", textsMax, savedText)];
    this.#awaited = [...saved.list("awaited", Infinity, savedText)];
  }

  #of(voice: Voice): string[] {
    return voice === "user" ? this.#user : this.#agent;
  }
}

function keyOf(form: "item" | "event", voice: Voice, text: string): string {
  return `${form}\n${voice}\n${comparable(text)}`;
}

function comparable(text: string): string {
  return text.trim().slice(0, textUnitsMax);
}

/** Whether several messages together have this text. */
function isJoined(wanted: string, said: readonly string[]): boolean {
  let rest = wanted;
  for (const one of said) {
    if (one !== "" && rest.startsWith(one)) rest = rest.slice(one.length).trimStart();
  }
  return rest === "";
}
