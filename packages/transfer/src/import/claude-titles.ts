/**
 * The titles of a Claude Code session: one that its user gave counts for more than one that a model
 * gave, and that for more than a summary, which often belongs to another session.
 */
import { normalizeName } from "@branchlog/core/entries";
import { stringAt } from "@branchlog/core/internal";
import type { ClaudeRecord } from "./claude-record.ts";
import type { ClaudeTree } from "./claude-tree.ts";
import { waitingMax } from "./limits.ts";
import type { LineOutcome, LineTally } from "./line-tally.ts";

interface WaitingSummary {
  readonly record: ClaudeRecord;
  readonly title: string;
}

/** See the file comment. */
export class ClaudeTitles {
  readonly #tree: ClaudeTree;
  readonly #tally: LineTally;
  readonly #flush: () => void;
  readonly #summaries: WaitingSummary[] = [];
  #name = "";
  #isGiven = false;

  /** @param flush Writes what waits, before a title is written. */
  constructor(tree: ClaudeTree, tally: LineTally, flush: () => void) {
    this.#tree = tree;
    this.#tally = tally;
    this.#flush = flush;
  }

  /** Takes a record with a title. */
  push(record: ClaudeRecord): LineOutcome {
    const { value, type } = record;
    if (type === "summary") return this.#hold(record, stringAt(value, "summary") ?? "");
    const isGiven = type === "custom-title";
    if (this.#isGiven && !isGiven) return "unused-title";
    const title = stringAt(value, isGiven ? "customTitle" : "aiTitle") ?? "";
    if (!this.#setName(record, title)) return "unused-title";
    this.#isGiven = isGiven;
    return "imported";
  }

  /** Uses a summary if there is no other title: the last one that is of this session. */
  end(last: ClaudeRecord): void {
    let used = this.#name !== "";
    for (const { record, title } of this.#summaries.toReversed()) {
      const isOfThis = this.#tree.has(stringAt(record.value, "leafUuid"));
      const isUsed = !used && isOfThis && this.#setName({ ...record, time: last.time }, title);
      this.#tally.settle(isUsed ? "imported" : "unused-title");
      used ||= isUsed;
    }
  }

  #hold(record: ClaudeRecord, title: string): LineOutcome {
    if (this.#summaries.length >= waitingMax) return "unused-title";
    this.#summaries.push({ record, title });
    return "held";
  }

  #setName(record: ClaudeRecord, title: string): boolean {
    const name = normalizeName(title);
    if (name === "" || name === this.#name) return false;
    this.#name = name;
    this.#flush();
    this.#tree.chain({ type: "session_info", name }, record, "title");
    return true;
  }
}
