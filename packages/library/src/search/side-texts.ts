/** Full texts that an agent keeps next to a session, which has their first part and their name. */
import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { SessionEntry } from "@branchlog/core";
import { agentNamed } from "@branchlog/core/rows";
import type { SideTexts as SideTextFormat } from "@branchlog/core/rows";
import { messageBytesMax } from "../catalog/limits.ts";
import { filesStamp } from "../catalog/session-files.ts";

export class SideTexts {
  readonly #format: SideTextFormat | undefined;
  /** By their names. */
  readonly #paths: ReadonlyMap<string, string>;

  /** @param agent The one that alone writes the session, if there is one. */
  constructor(path: string, agent: string | undefined) {
    const texts = agentNamed(agent ?? "")?.transcripts?.sideTexts;
    this.#format = texts;
    this.#paths = new Map((texts?.files(path) ?? []).map((file) => [basename(file), file]));
  }

  /** Changes with the files; undefined if one of them changed just now. */
  stamp(): string | undefined {
    return filesStamp([...this.#paths.values()]);
  }

  get isEmpty(): boolean {
    return this.#paths.size === 0;
  }

  /** The names of files with certain texts. */
  names(isWanted: (path: string) => boolean): readonly string[] {
    return [...this.#paths].flatMap(([name, path]) => (isWanted(path) ? [name] : []));
  }

  /** The full text of which this is the first part; undefined if it cannot be read. */
  wholeOf(text: string): string | undefined {
    if (this.#paths.size === 0) return undefined;
    const path = this.#paths.get(this.#format?.nameIn(text) ?? "");
    return path && sideText(path);
  }

  /** With the full text in place of its first part. */
  inWhole(entry: SessionEntry): SessionEntry {
    if (this.#paths.size === 0 || entry.type !== "message") return entry;
    const { message } = entry;
    if (message.role !== "toolResult") return entry;
    const content = message.content.map((block) =>
      block.type === "text" ? { ...block, text: this.wholeOf(block.text) ?? block.text } : block,
    );
    return { ...entry, message: { ...message, content } };
  }
}

/** Undefined for what cannot be read, or is too long. */
export function sideText(path: string): string | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= messageBytesMax ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
