/** Whole texts that an agent keeps beside a session, which has their beginning and their name. */
import { readFileSync, statSync } from "node:fs";
import type { SessionEntry } from "@branchlog/core";
import { agentNamed } from "@branchlog/core/rows";
import type { SideText } from "@branchlog/core/rows";
import { messageBytesMax } from "../catalog/limits.ts";

export class SideTexts {
  readonly #texts: readonly SideText[];

  /** @param agent The one that alone writes the session, if there is one. */
  constructor(path: string, agent: string | undefined) {
    this.#texts = agentNamed(agent ?? "")?.transcripts?.sideTexts?.(path) ?? [];
  }

  /** What entries mention of those whose text is wanted. Each file is read. */
  mentions(isWanted: (text: string) => boolean): readonly string[] {
    return this.#texts.filter((one) => isWanted(textAt(one.path) ?? "")).map((one) => one.mention);
  }

  /** The text of the file that this one mentions; undefined if there is none that can be read. */
  wholeOf(text: string): string | undefined {
    const found = this.#texts.find(({ mention }) => text.includes(mention));
    return found && textAt(found.path);
  }

  /** With the whole text in place of its beginning. */
  inWhole(entry: SessionEntry): SessionEntry {
    if (this.#texts.length === 0 || entry.type !== "message") return entry;
    const { message } = entry;
    if (message.role !== "toolResult") return entry;
    const content = message.content.map((block) =>
      block.type === "text" ? { ...block, text: this.wholeOf(block.text) ?? block.text } : block,
    );
    return { ...entry, message: { ...message, content } };
  }
}

function textAt(path: string): string | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= messageBytesMax ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
