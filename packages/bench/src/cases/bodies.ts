/** All bodies of a session as objects, one after the other. */
import { deepStrictEqual } from "node:assert";
import { createReadStream } from "node:fs";
import type { Duplex } from "node:stream";
import { LineFramer, openByteSource, records, runSync, scan } from "@branchlog/streaming";
import { baseline, type BenchCase, defineCase, ours, type Subject } from "../bench-case.ts";
import { largeSession } from "../inputs.ts";
import { openCold } from "../our-session.ts";
import { peerModule } from "../peers.ts";

type TypeCounts = Map<string, number>;

const streamBodies = defineCase<TypeCounts>({
  name: "stream-bodies",
  question: "How fast can all bodies of 1 GB be read as objects?",
  goal: "350 MB/s with at most 120 MB of memory.",
  nodeFlags: ["--max-old-space-size=256"],
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
        line: (bytes: Buffer, start: number, end: number) => {
          // Decoding boundary: made by the generator.
          const { type } = JSON.parse(bytes.toString("utf8", start, end)) as { type: string };
          count(counts, type);
        },
        longLine: ({ offset }: { readonly offset: number }) => {
          throw new Error(`no line of this session is long, but the one at ${offset}`);
        },
      };
      runSync(scan(file, new LineFramer(), sink, { from: 0, to: facts.bytes }));
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

function parserSubject(
  name: string,
  from: string,
  file: string,
  factory: string,
): Subject<TypeCounts> {
  return {
    name: `${name}: jsonl/${file}`,
    role: "peer",
    needs: "peers",
    prepare: async ({ path }) => {
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
    },
  };
}

function count(counts: TypeCounts, type: unknown): void {
  const key = String(type);
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

export const cases: readonly BenchCase[] = [streamBodies];
