/**
 * Random transcripts of Claude Code with what must become of them: a tree that grows by turns, tool
 * calls, subagents, compactions and records that say nothing, with damaged lines in between.
 */
import * as fc from "fast-check";

/** A source and what is known of it. */
export interface ModelledSource {
  readonly lines: readonly string[];
  /** Texts that must be found, each in one entry. */
  readonly texts: readonly string[];
  /** Those on the way to where the conversation ends, in order. */
  readonly path: readonly string[];
  /** Those that may be on that way too: results of calls that were made at once. */
  readonly beside: ReadonlySet<string>;
}

interface Step {
  readonly kind:
    | "user"
    | "answer"
    | "tools"
    | "side"
    | "compaction"
    | "silent"
    | "damage"
    | "title"
    | "again";
  /** Which of the records so far is the parent: the last one for the most part. */
  readonly back: number;
  readonly size: number;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Step["kind"]>(
      "user",
      "answer",
      "answer",
      "tools",
      "side",
      "compaction",
      "silent",
      "damage",
      "title",
      "again",
    ),
    back: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(6)),
    size: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 1, maxLength: 25 },
);

/** Random transcripts. */
export const claudeSource: fc.Arbitrary<ModelledSource> = steps.map((taken) => {
  const world = new ClaudeWorld();
  world.say(0);
  for (const step of taken) world.take(step);
  return world.source();
});

interface Told {
  readonly uuid: string;
  readonly texts: readonly string[];
  readonly above: Told | undefined;
  readonly isSide: boolean;
}

const damages = ["", "  ", '{"type":"user"', "[]", "null", "\u0000\u0000"];

/** The id of the call that a text is in; not that text itself. */
function callOf(text: string): string {
  return `call ${text.slice(1, -1)}`;
}

class ClaudeWorld {
  readonly #lines: string[] = [];
  readonly #texts: string[] = [];
  readonly #beside = new Set<string>();
  readonly #told: Told[] = [];
  /** Records that may be the parent of another: not those in the midst of an answer. */
  readonly #ends: Told[] = [];
  #count = 0;

  take({ kind, back, size }: Step): void {
    switch (kind) {
      case "user":
        return this.say(back);
      case "answer":
        return this.#end(this.#answer(back, size, 0).at(-1));
      case "tools":
        return this.#tools(back, size);
      case "side":
        return this.#side(size);
      case "compaction":
        return this.#compact(back);
      case "silent":
        return this.#silent(back);
      case "damage":
        this.#lines.push(damages[this.#next() % damages.length] ?? "");
        return undefined;
      case "title": {
        const customTitle = this.#text();
        this.#write({ type: "custom-title", customTitle, sessionId: "s" });
        return undefined;
      }
      case "again":
        this.#lines.push(this.#lines[0] ?? "");
        return undefined;
    }
  }

  say(back: number): void {
    const text = this.#text();
    this.#end(this.#record("user", this.#main(back), [text], { role: "user", content: text }));
  }

  source(): ModelledSource {
    const last = this.#told.findLast(({ isSide, texts }) => !isSide && texts.length > 0);
    const path: string[] = [];
    for (let at = last; at !== undefined; at = at.above) path.unshift(...at.texts);
    return { lines: this.#lines, texts: this.#texts, path, beside: this.#beside };
  }

  /** Blocks of one answer as separate records; returns them. */
  #answer(back: number, size: number, calls: number): Told[] {
    const id = `msg_${this.#next()}`;
    const told: Told[] = [];
    let above = this.#main(back);
    for (let i = 0; i < size + calls; i += 1) {
      const text = this.#text();
      const said = { type: "text", text };
      const call = { type: "tool_use", id: callOf(text), name: "t", input: { text } };
      const message = {
        role: "assistant",
        id,
        model: `m${size}`,
        content: [i < size ? said : call],
      };
      above = this.#record("assistant", above, [text], message);
      told.push(above);
    }
    return told;
  }

  /** Calls made at once; the parent of each result is its own call. */
  #tools(back: number, size: number): void {
    const calls = this.#answer(back, 1, size).slice(1);
    for (const [i, call] of calls.entries()) {
      const content = this.#text();
      if (i < calls.length - 1) this.#beside.add(content);
      const result = { type: "tool_result", tool_use_id: callOf(call.texts[0] ?? ""), content };
      const told = this.#record("user", call, [content], { role: "user", content: [result] });
      if (i === calls.length - 1) this.#end(told);
    }
  }

  #side(size: number): void {
    let above: Told | undefined;
    for (let i = 0; i < size; i += 1) {
      const text = this.#text();
      const message = { role: "user", content: text };
      above = this.#record("user", above, [text], message, { isSidechain: true });
    }
  }

  #compact(back: number): void {
    const above = this.#main(back);
    const boundary = this.#record("system", above, [], undefined, {
      subtype: "compact_boundary",
      parentUuid: null,
      logicalParentUuid: above?.uuid,
      compactMetadata: { trigger: "auto", preTokens: 7 },
    });
    const text = this.#text();
    const message = { role: "user", content: text };
    this.#end(this.#record("user", boundary, [text], message, { isCompactSummary: true }));
  }

  #silent(back: number): void {
    this.#end(this.#record("progress", this.#main(back), [], undefined, { data: { type: "x" } }));
  }

  #end(told: Told | undefined): void {
    if (told !== undefined) this.#ends.push(told);
  }

  #main(back: number): Told | undefined {
    return this.#ends[Math.max(0, this.#ends.length - 1 - back)];
  }

  #record(
    type: string,
    above: Told | undefined,
    texts: readonly string[],
    message: object | undefined,
    rest: object = {},
  ): Told {
    const uuid = `u${this.#next()}`;
    const isSide = "isSidechain" in rest;
    const links = { uuid, parentUuid: above?.uuid ?? null, isSidechain: false };
    this.#write({ ...links, sessionId: "s", cwd: "/w", type, message, ...rest });
    const told = { uuid, texts, above, isSide };
    this.#told.push(told);
    return told;
  }

  #write(record: object): void {
    this.#lines.push(JSON.stringify(record));
  }

  #text(): string {
    const text = `<${this.#next()}>`;
    this.#texts.push(text);
    return text;
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}
