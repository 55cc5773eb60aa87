/** Bodies: the latest of an extension among very many, and all of them, one after the other. */
import { deepStrictEqual, ok } from "node:assert";
import { createReadStream } from "node:fs";
import type { Duplex } from "node:stream";
import { LineFramer, openByteSource, records, scanSync } from "@branchlog/streaming";
import {
  baseline,
  type BenchCase,
  type Counts,
  defineCase,
  ours,
  type Prepare,
  type Subject,
} from "../bench-case.ts";
import { largeSession } from "../inputs.ts";
import { openCold } from "../our-session.ts";
import { peerModule } from "../peers.ts";

const nodeFlags = ["--max-old-space-size=256"];
const customsMin: Counts = { full: 250_000, quick: 5_000 };

const latestCustom = defineCase<Readonly<Record<string, string | null>>>({
  name: "latest-custom",
  question: "How long does it take to find the latest snapshot of each extension among 250,000?",
  goal: "one body read for each.",
  nodeFlags,
  input: (scale) => ({
    mix: "custom-heavy",
    entries: scale === "full" ? 360_000 : 8_000,
    seed: 7,
  }),
  subjects: [
    ours("session.entries({ customType, reverse })", async ({ path, facts }) => {
      const session = await openCold(path);
      return async () => {
        const lastIds: Record<string, string | null> = {};
        for (const customType of Object.keys(facts.customTypes)) {
          const query = { type: "custom", customType, reverse: true } as const;
          const first = await session.entries(query).next();
          lastIds[customType] = first.done === true ? null : first.value.id;
        }
        return lastIds;
      };
    }),
  ],
  check: (lastIds, { facts, scale }) => {
    const customs = Object.entries(facts.customTypes).map(([name, { lastId }]) => [name, lastId]);
    deepStrictEqual(lastIds, Object.fromEntries(customs));
    ok((facts.entriesByType["custom"] ?? 0) >= customsMin[scale], "too few custom entries");
  },
  figures: (lastIds, wallMs) => ({ "µs/lookup": (wallMs * 1000) / Object.keys(lastIds).length }),
});

type TypeCounts = Map<string, number>;

const streamBodies = defineCase<TypeCounts>({
  name: "stream-bodies",
  question: "How fast can all bodies of 1 GB be read as objects?",
  goal: "350 MB/s with at most 120 MB of memory.",
  nodeFlags,
  input: largeSession,
  subjects: [
    ours("records(path)", ({ path }) => async () => {
      const counts: TypeCounts = new Map();
      for await (const record of records(path)) {
        count(counts, record.ok ? record.value["type"] : record.reason);
      }
      return counts;
    }),
    ours("session.entries()", async ({ path }) => {
      const session = await openCold(path);
      return async () => {
        const counts: TypeCounts = new Map([[session.header.type, 1]]);
        for await (const entry of session.entries()) count(counts, entry.type);
        return counts;
      };
    }),
    // The least that making objects of all lines costs.
    baseline("JSON.parse of each line", ({ path, facts }) => () => {
      const counts: TypeCounts = new Map();
      const file = openByteSource(path);
      const sink = {
        line: (bytes: Buffer, start: number, end: number) =>
          count(counts, typeOf(bytes.toString("utf8", start, end))),
        longLine: ({ offset }: { readonly offset: number }) => {
          throw new Error(`no line of this session is long, but the one at ${offset}`);
        },
      };
      scanSync(file, new LineFramer(), sink, { from: 0, to: facts.bytes });
      file.closeSync();
      return counts;
    }),
    parserSubject("stream-json 3.8.0", "stream-json", "parser", "asStream"),
    parserSubject("stream-chain 4.4.1", "stream-chain", "parserStream", "parserStream"),
  ],
  check: (counts, { facts }) => {
    deepStrictEqual(Object.fromEntries(counts), { session: 1, ...facts.entriesByType });
  },
  figures: (_counts, wallMs, { facts }) => ({ "MB/s": facts.bytes / 1000 / wallMs }),
});

interface ParserModule {
  readonly [name: string]: (() => Duplex) | undefined;
}

/** The stream emits `{ key, value }` for each line. */
function parserSubject(
  name: string,
  from: string,
  file: string,
  factory: string,
): Subject<TypeCounts> {
  const prepare: Prepare<TypeCounts> = async ({ path }) => {
    const url = peerModule("peers", `${from}/src/jsonl/${file}.js`);
    // Decoding boundary: the modules of the versions named above.
    const loaded = (await import(url)) as ParserModule & { readonly default?: ParserModule };
    const parse = loaded[factory] ?? loaded.default?.[factory];
    if (parse === undefined) throw new Error(`${url} has no ${factory}`);
    return async () => {
      const counts: TypeCounts = new Map();
      for await (const record of createReadStream(path).pipe(parse())) {
        count(counts, (record as { readonly value: { readonly type: string } }).value.type);
      }
      return counts;
    };
  };
  return { name: `${name}: jsonl/${file}`, role: "peer", needs: "peers", prepare };
}

function typeOf(line: string): string {
  // Decoding boundary: made by the generator.
  return (JSON.parse(line) as { readonly type: string }).type;
}

function count(counts: TypeCounts, type: unknown): void {
  const key = String(type);
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

export const cases: readonly BenchCase[] = [latestCustom, streamBodies];
