/**
 * Prompts that were queued while the agent worked. Each is in an attachment, in the record that
 * takes it from the queue, or in both, in any order. Records of the queue have no place in the
 * tree: they are behind the last entry, and before what is written below that next. No I/O.
 */
import type { JsonObject } from "@branchlog/streaming";
import { savedText, stringAt } from "@branchlog/core/rows";
import type { SavedFields } from "@branchlog/core/rows";
import { claudeText, taskDigest } from "./claude-content.ts";
import { userSpeech } from "./claude-prompts.ts";

/** Of prompts whose other record was not read. Both are written before the next answer. */
const queuedMax = 64;

/** The digest of a prompt, and the id of its entry. */
type Prompt = readonly [digest: string, id: string];

export class QueuedPrompts {
  #unqueued: readonly Prompt[] = [];
  #placed: readonly Prompt[] = [];
  /** The last entry of the queue, and the one behind which it is. */
  #inserted: { readonly behind: string | null; readonly id: string } | undefined;

  /** The entry that says this prompt already; undefined: the record has an entry of its own. */
  take(record: JsonObject, id: string): string | undefined {
    if (stringAt(record, "type") === "assistant") [this.#unqueued, this.#placed] = [[], []];
    const text = promptText(record);
    if (text === "") return undefined;
    const digest = taskDigest(text);
    const isUnqueued = stringAt(record, "type") === "queue-operation";
    const others = isUnqueued ? this.#placed : this.#unqueued;
    const found = others.find(([of]) => of === digest);
    const left = others.filter((prompt) => prompt !== found);
    const added: Prompt[] = found === undefined ? [[digest, id]] : [];
    if (isUnqueued) [this.#placed, this.#unqueued] = [left, joined(this.#unqueued, added)];
    else [this.#unqueued, this.#placed] = [left, joined(this.#placed, added)];
    return found?.[1];
  }

  insert(behind: string | null, id: string): void {
    const isNext = this.#inserted !== undefined && this.#inserted.id === behind;
    this.#inserted = { behind: isNext ? (this.#inserted?.behind ?? null) : behind, id };
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
    return { unqueued: this.#unqueued, placed: this.#placed, behind, inserted: id };
  }

  restore(saved: SavedFields): void {
    this.#unqueued = saved.pairs("unqueued", queuedMax, savedText);
    this.#placed = saved.pairs("placed", queuedMax, savedText);
    const [behind, id] = [saved.nullableText("behind"), saved.nullableText("inserted")];
    if (id !== null) this.#inserted = { behind, id };
  }
}

function joined(prompts: readonly Prompt[], added: readonly Prompt[]): readonly Prompt[] {
  return [...prompts, ...added].slice(-queuedMax);
}

/** Empty for a record that is no prompt. */
export function promptText(record: JsonObject): string {
  return claudeText(userSpeech(record)?.content).trim();
}
