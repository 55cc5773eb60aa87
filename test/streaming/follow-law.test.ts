/** Laws of following: whatever the writer does meanwhile, the end is what reading the end gives. */
import fc from "fast-check";
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { followFile, type FollowEvent, recordsSync } from "@branchlog/streaming";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { followDeaf } from "./support/followed.ts";

const bytesMax = fc.integer({ min: 1, max: 40 });

const part = fc.oneof(
  fc.constantFrom("\n", "\r\n", '{"a":"漢"}\n', '{"a":1}\n', "\ufeff", "[1,"),
  fc.string({ unit: "binary", maxLength: 60 }),
);

const content = fc.array(part, { maxLength: 30 }).map((parts) => Buffer.from(parts.join("")));

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Lets the event loop turn as often as the stream says next. */
async function pause(counts: Iterator<number>): Promise<void> {
  const step = counts.next();
  for (let n = step.done === true ? 0 : step.value; n > 0; n--) await turn();
}

describe("law: any chunking of appends gives the records of the whole", () => {
  it("any chunking gives the same records when pulls wait for hints and the poll", async () => {
    const directory = temporaryDirectory();
    let files = 0;
    const cuts = fc.array(bytesMax, { minLength: 1, maxLength: 30 });
    const pauses = fc.infiniteStream(fc.integer({ min: 0, max: 3 }));
    const run = async (
      bytes: Buffer,
      pieces: readonly number[],
      counts: Iterator<number>,
      options: { chunkBytes: number; lineBytesMax: number },
      follow: typeof followFile,
    ): Promise<void> => {
      const path = join(directory, `${files++}.jsonl`);
      const whole = `${path}.whole`;
      writeFileSync(whole, bytes);
      const expected = [...recordsSync(whole, options)].filter(({ terminated }) => terminated);
      writeFileSync(path, "");
      const events = follow(path, { pollMs: 5, ...options });
      const found: FollowEvent[] = [];
      const reading = (async () => {
        while (found.length < expected.length) {
          const step = await events.next();
          if (step.done === true) return;
          found.push(step.value);
          await pause(counts);
        }
      })();
      for (let at = 0, n = 0; at < bytes.length; n++) {
        const end = at + (pieces[n % pieces.length] ?? 1);
        appendFileSync(path, bytes.subarray(at, end));
        at = end;
        await pause(counts);
      }
      await reading;
      await events.return();
      expect(found).toEqual(expected.map((record) => ({ kind: "record", record })));
    };
    const options = fc.record({ chunkBytes: bytesMax, lineBytesMax: bytesMax });
    const follow = fc.constantFrom(followFile, followDeaf);
    await fc.assert(fc.asyncProperty(content, cuts, pauses, options, follow, run), {
      numRuns: 100,
    });
  });

  it("any chunking gives the same records when pulls and appends interleave", async () => {
    const directory = temporaryDirectory();
    let files = 0;
    const step = fc.oneof(fc.constant("pull" as const), bytesMax);
    const run = async (bytes: Buffer, steps: readonly ("pull" | number)[], chunkBytes: number) => {
      const path = join(directory, `${files++}.jsonl`);
      writeFileSync(path, "");
      const events = followFile(path, { chunkBytes });
      const offsets: number[] = [];
      let at = 0;
      const pullAll = async (): Promise<void> => {
        const there = [...recordsSync(path)].filter(({ terminated }) => terminated);
        const { length } = there;
        while (offsets.length < length) {
          const { value } = await events.next();
          if (value?.kind === "record") offsets.push(value.record.offset);
        }
        expect(offsets).toEqual(there.map(({ offset }) => offset));
      };
      for (const one of steps) {
        if (one === "pull") await pullAll();
        else {
          appendFileSync(path, bytes.subarray(at, at + one));
          at += one;
        }
      }
      appendFileSync(path, bytes.subarray(at));
      await pullAll();
      await events.return();
    };
    await fc.assert(fc.asyncProperty(content, fc.array(step, { maxLength: 20 }), bytesMax, run), {
      numRuns: 100,
    });
  });

  it("any chunking gives the same records from any start position", async () => {
    const directory = temporaryDirectory();
    let files = 0;
    const run = async (bytes: Buffer, choice: number, chunkBytes: number): Promise<void> => {
      const path = join(directory, `${files++}.jsonl`);
      writeFileSync(path, Buffer.concat([bytes, Buffer.from("\n")]));
      const all = [...recordsSync(path)];
      const from = all[choice % all.length]?.offset ?? 0;
      const events = followFile(path, { from, chunkBytes });
      const expected = [...recordsSync(path, { from })];
      for (const record of expected) {
        expect(await events.next()).toEqual({ done: false, value: { kind: "record", record } });
      }
      await events.return();
    };
    await fc.assert(fc.asyncProperty(content, fc.nat(30), bytesMax, run), { numRuns: 100 });
  });
});

/** What a writer does to a file; each line that it writes is unlike any other. */
type Deed =
  | { readonly kind: "append" | "replace" | "recreate" | "rewrite"; readonly lines: number }
  | { readonly kind: "tear" | "cutTear" }
  | { readonly kind: "cut"; readonly share: number };

const deeds: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("append", "replace", "recreate", "rewrite"),
    lines: fc.integer({ min: 0, max: 5 }),
  }),
  fc.record({ kind: fc.constantFrom("tear", "cutTear") }),
  fc.record({ kind: fc.constant("cut"), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
);

class Writer {
  readonly #path: string;
  #count = 0;

  constructor(path: string) {
    this.#path = path;
    writeFileSync(path, "");
  }

  do(deed: Deed): void {
    switch (deed.kind) {
      case "append":
        return appendFileSync(this.#path, this.#lines(deed.lines));
      case "replace":
        writeFileSync(`${this.#path}.new`, this.#lines(deed.lines));
        return renameSync(`${this.#path}.new`, this.#path);
      case "recreate":
        unlinkSync(this.#path);
        return writeFileSync(this.#path, this.#lines(deed.lines));
      case "rewrite":
        return this.#rewrite(this.#lines(deed.lines));
      case "tear":
        return appendFileSync(this.#path, `{"torn":${this.#count++}`);
      case "cutTear":
        return this.#cut([...recordsSync(this.#path)].findLast((line) => !line.terminated)?.offset);
      case "cut":
        return this.#cut(Math.floor(statSync(this.#path).size * deed.share));
    }
  }

  #cut(bytes: number | undefined): void {
    if (bytes !== undefined) this.#open((descriptor) => ftruncateSync(descriptor, bytes));
  }

  /** All of it: a change that leaves the bytes before a cursor is not to be noticed. */
  #rewrite(begin: string): void {
    let text = begin;
    const { size } = statSync(this.#path);
    while (text.length < size) text += this.#lines(1);
    this.#open((descriptor) => writeSync(descriptor, text, 0));
  }

  #open(action: (descriptor: number) => unknown): void {
    const descriptor = openSync(this.#path, "r+");
    action(descriptor);
    closeSync(descriptor);
  }

  /** The number comes last: any bytes before a cursor are to be unlike any others. */
  #lines(count: number): string {
    let text = "";
    for (let n = 0; n < count; n++) {
      text += `{"x":"${"x".repeat((n * 37) % 90)}","n":${this.#count++}}\n`;
    }
    return text;
  }
}

describe("law: live end state = replay end state", () => {
  it("the live end state equals the replay after any changes of the file", async () => {
    const directory = temporaryDirectory();
    let files = 0;
    const step = fc.tuple(deeds, fc.integer({ min: 0, max: 6 }));
    const run = async (
      steps: readonly (readonly [Deed, number])[],
      chunkBytes: number,
      follow: typeof followFile,
    ): Promise<void> => {
      const path = join(directory, `${files++}.jsonl`);
      const writer = new Writer(path);
      const events = follow(path, { chunkBytes, pollMs: 5 });
      let held: unknown[] = [];
      const end = { isReached: false };
      const reading = (async () => {
        while (!end.isReached) {
          const { value } = await events.next();
          if (value?.kind === "reset") held = [];
          else if (value?.kind === "record") held.push(value.record);
          end.isReached =
            value?.kind === "record" && value.record.ok && "end" in value.record.value;
        }
      })();
      for (const [what, turns] of steps) {
        writer.do(what);
        for (let n = turns; n > 0; n--) await turn();
      }
      appendFileSync(path, '\n{"end":true}\n');
      await reading;
      await events.return();
      expect(held).toEqual([...recordsSync(path)]);
    };
    const follow = fc.constantFrom(followFile, followDeaf);
    const steps = fc.array(step, { maxLength: 12 });
    await fc.assert(fc.asyncProperty(steps, fc.integer({ min: 8, max: 200 }), follow, run), {
      numRuns: 150,
    });
  });
});
