/** Every body of a large session, one after the other, in bounded memory. */
import { deepStrictEqual } from "node:assert";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Duplex } from "node:stream";
import { openSession } from "@branchlog/core";
import { LineFramer, openByteSource, records, scanSync } from "@branchlog/streaming";
import type { LineSink } from "@branchlog/streaming";
import { type BenchCase, defineCase, type Subject } from "../bench-case.ts";
import { largeSession } from "../inputs.ts";
import { peerModule } from "../peer-folders.ts";

/** How many records of each type were seen, the header among them. */
type TypeCounts = Map<string, number>;

type MakeStream = () => Duplex;

interface ParserModule {
  readonly [name: string]: MakeStream | undefined;
  readonly default?: MakeStream & { readonly [name: string]: MakeStream | undefined };
}

/** See the file comment. */
export const benchCase: BenchCase = defineCase<TypeCounts>({
  name: "stream-bodies",
  question: "How fast can all bodies of 1 GB be read as objects?",
  goal: "350 MB/s with at most 120 MB of memory.",
  nodeFlags: ["--max-old-space-size=256"],
  input: largeSession,
  subjects: [
    {
      name: "records(path)",
      role: "ours",
      prepare:
        ({ path }) =>
        async () => {
          const counts: TypeCounts = new Map();
          for await (const record of records(path)) {
            count(counts, record.ok ? record.value["type"] : record.reason);
          }
          return counts;
        },
    },
    {
      name: "session.entries()",
      role: "ours",
      prepare: async ({ path }) => {
        const session = await openSession(path, { access: "read", checkpoint: "off" });
        return async () => {
          const counts: TypeCounts = new Map();
          count(counts, session.header.type);
          for await (const entry of session.entries()) count(counts, entry.type);
          return counts;
        };
      },
    },
    {
      name: "JSON.parse of each line",
      role: "baseline",
      prepare:
        ({ path, facts }) =>
        () => {
          const counts: TypeCounts = new Map();
          const file = openByteSource(path);
          scanSync(file, new LineFramer(), parser(counts), { from: 0, to: facts.bytes });
          file.closeSync();
          return counts;
        },
    },
    {
      name: "readline + JSON.parse",
      role: "baseline",
      prepare:
        ({ path }) =>
        async () => {
          const counts: TypeCounts = new Map();
          for await (const line of createInterface({ input: createReadStream(path) })) {
            count(counts, typeOf(line));
          }
          return counts;
        },
    },
    parserSubject("stream-json 3.8.0: jsonl/parser", "stream-json/src/jsonl/parser.js", "asStream"),
    parserSubject(
      "stream-chain 4.4.1: jsonl/parserStream",
      "stream-chain/src/jsonl/parserStream.js",
      "parserStream",
    ),
  ],
  check: (counts, { facts }) => {
    deepStrictEqual(Object.fromEntries(counts), { session: 1, ...facts.entriesByType });
  },
  figures: (_counts, wallMs, { facts }) => ({ "MB/s": facts.bytes / 1000 / wallMs }),
});

/** The stream of a package that takes bytes and gives `{ key, value }` for each line. */
function parserSubject(name: string, module: string, factory: string): Subject<TypeCounts> {
  return {
    name,
    role: "peer",
    needs: "peers",
    prepare: async ({ path }) => {
      // Decoding boundary: the modules of the versions named above.
      const loaded = (await import(peerModule("peers", module))) as ParserModule;
      const parse = loaded[factory] ?? loaded.default?.[factory];
      if (parse === undefined) throw new Error(`${module} has no ${factory}`);
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

/** The least that anybody does who makes objects of all lines. */
function parser(counts: TypeCounts): LineSink {
  return {
    line: (bytes, start, end) => count(counts, typeOf(bytes.toString("utf8", start, end))),
    longLine: ({ offset }) => {
      throw new Error(`no line of this session is long, but the one at ${offset}`);
    },
  };
}

function typeOf(line: string): string {
  // Decoding boundary: made by the generator.
  return (JSON.parse(line) as { readonly type: string }).type;
}

function count(counts: TypeCounts, type: unknown): void {
  const key = String(type);
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
