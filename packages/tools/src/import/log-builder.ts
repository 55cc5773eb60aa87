/** The new log of an import: lines with ids that follow from the source alone. No I/O. */
import { createHash } from "node:crypto";
import type { SessionHeader } from "@branchlog/core";
import type { KnownDraft } from "@branchlog/core/entries";
import { encodeDraft, encodeHeader, spliceDraft } from "@branchlog/core/internal";

export interface EntryPlace {
  readonly parentId: string | null;
  readonly time: string;
  /** Unique: `uuid:<id in the source>` or `line:<number>`, then `#<part>`. */
  readonly seed: string;
}

export class LogBuilder {
  readonly #sessionId: string;
  readonly #ids = new Set<string>();
  #lines: Buffer[] = [];
  /** Not yet taken. */
  bytes = 0;
  #lastId: string | null = null;

  constructor(header: SessionHeader) {
    this.#sessionId = header.id;
    this.#push(encodeHeader(header));
  }

  get entries(): number {
    return this.#ids.size;
  }

  add(draft: KnownDraft, { parentId, time, seed }: EntryPlace): string {
    const encoded = encodeDraft(draft, time);
    const id = this.#mint(seed);
    this.#push(spliceDraft(encoded, id, parentId));
    this.#lastId = id;
    return id;
  }

  /** Ends at the conversation, even if another branch is last. */
  endAt(parentId: string, { time, line }: { readonly time: string; readonly line: number }): void {
    if (this.#lastId === parentId) return;
    const leaf = { type: "custom", customType: "branchlog.leaf" } as const;
    this.add(leaf, { parentId, time, seed: `line:${line}#leaf` });
  }

  take(): Buffer {
    const taken = Buffer.concat(this.#lines, this.bytes);
    this.#lines = [];
    this.bytes = 0;
    return taken;
  }

  #push(line: Buffer): void {
    this.#lines.push(line);
    this.bytes += line.length;
  }

  #mint(seed: string): string {
    for (const id of candidates(this.#sessionId, seed)) {
      if (this.#ids.has(id)) continue;
      this.#ids.add(id);
      return id;
    }
    throw new Error(`two entries were made of ${seed}`);
  }
}

const idDigits = 8;

/** Eight digits of the source's own id if it has one, then those of a digest, then all. */
function* candidates(sessionId: string, seed: string): Generator<string> {
  const own = /^uuid:([0-9a-f]{8})-[0-9a-f-]{27}#0$/.exec(seed)?.[1];
  if (own !== undefined) yield own;
  const digest = createHash("sha256").update(`${sessionId}\n${seed}`).digest("hex");
  for (let at = 0; at < digest.length; at += idDigits) yield digest.slice(at, at + idDigits);
  yield digest;
}
