/**
 * Prompts that were queued while the agent worked. Each is in an attachment, in the record that
 * removes it from the queue, or in both, in any order. Records of the queue have no position in the
 * tree: they follow the last entry, and precede the next entry below that. No I/O.
 */
import { savedText } from "@branchlog/core/rows";
import type { SavedFields } from "@branchlog/core/rows";
import { claudeText, taskDigest } from "./claude-content.ts";
import type { UserSpeech } from "./claude-prompts.ts";

/** Of prompts whose other record was not read. Both are written before the next answer. */
const queuedMax = 64;

/** A prompt and the id of its entry; of one that was restored, the digest of its text is known. */
interface Prompt {
  readonly id: string;
  readonly text?: string;
  readonly digest?: string;
}

const none: readonly Prompt[] = [];

export class QueuedPrompts {
  #unqueued = none;
  #placed = none;
  /** The last entry of the queue, and the one after which it is. */
  #inserted: { readonly behind: string | null; readonly id: string } | undefined;

  /** Queued prompts are sent to the model before its next answer, and before another prompt. */
  clear(): void {
    this.#unqueued = none;
    this.#placed = none;
  }

  /**
   * The entry that already has this prompt; undefined: its record has its own entry. @param
   * isUnqueued Whether its record removes it from the queue.
   */
  take(text: string, id: string, isUnqueued: boolean): string | undefined {
    if (text === "") return undefined;
    const others = isUnqueued ? this.#placed : this.#unqueued;
    const found = others.find((other) => isOfText(other, text));
    const left = others.filter((prompt) => prompt !== found);
    const added: Prompt[] = found === undefined ? [{ id, text }] : [];
    if (isUnqueued) [this.#placed, this.#unqueued] = [left, joined(this.#unqueued, added)];
    else [this.#unqueued, this.#placed] = [left, joined(this.#placed, added)];
    return found?.id;
  }

  insert(behind: string | null, id: string): void {
    const isNext = this.#inserted !== undefined && this.#inserted.id === behind;
    this.#inserted = { behind: isNext ? (this.#inserted?.behind ?? null) : behind, id };
  }

  isBehind(parent: string | null): boolean {
    return this.#inserted !== undefined && this.#inserted.behind === parent;
  }

  /** The parent of the first entry below `parent` since the last entry of the queue. */
  below(parent: string | null): string | null {
    if (this.#inserted === undefined || this.#inserted.behind !== parent) return parent;
    const { id } = this.#inserted;
    this.#inserted = undefined;
    return id;
  }

  save(): object {
    const { behind = null, id = null } = this.#inserted ?? {};
    const [unqueued, placed] = [this.#unqueued.map(savedPrompt), this.#placed.map(savedPrompt)];
    return { unqueued, placed, behind, inserted: id };
  }

  restore(saved: SavedFields): void {
    const prompts = (key: string): readonly Prompt[] =>
      saved.pairs(key, queuedMax, savedText).map(([digest, id]) => ({ digest, id }));
    [this.#unqueued, this.#placed] = [prompts("unqueued"), prompts("placed")];
    const [behind, id] = [saved.nullableText("behind"), saved.nullableText("inserted")];
    if (id !== null) this.#inserted = { behind, id };
  }
}

function joined(prompts: readonly Prompt[], added: readonly Prompt[]): readonly Prompt[] {
  return [...prompts, ...added].slice(-queuedMax);
}

function isOfText({ text, digest }: Prompt, other: string): boolean {
  return text === undefined ? digest === taskDigest(other) : text === other;
}

function savedPrompt({ text, digest, id }: Prompt): readonly [digest: string, id: string] {
  return [text === undefined ? (digest ?? "") : taskDigest(text), id];
}

/** Empty for a record that is not a prompt. */
export function promptText(speech: UserSpeech | undefined): string {
  return claudeText(speech?.content).trim();
}
