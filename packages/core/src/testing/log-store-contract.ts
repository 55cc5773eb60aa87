/**
 * What every store of logs must do, as cases for any test runner:
 * `for (const { title, run } of logStoreContract(setUp)) test(title, run)`.
 */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert";
import { openStoredSession } from "../open.ts";
import { jsonLines, sampleHeader } from "./builders.ts";
import type { LogStore, StoredAppend, StoredLog, StoredPosition } from "../store/log-store.ts";

export interface ContractCase {
  /** A sentence about the store. */
  readonly title: string;
  /** Rejects with an assertion error of Node if it does not hold. */
  readonly run: () => Promise<void>;
}

/** @param setUp An empty store, for each case another one. */
export function logStoreContract(
  setUp: () => LogStore | Promise<LogStore>,
): readonly ContractCase[] {
  const given = (title: string, check: (store: LogStore) => Promise<void>): ContractCase => ({
    title,
    run: async () => check(await setUp()),
  });
  return [...ofBytes, ...ofAppends, ...ofNames, ...ofSessions].map(([title, check]) =>
    given(title, check),
  );
}

type Check = readonly [title: string, check: (store: LogStore) => Promise<void>];

const header = Buffer.from(jsonLines(sampleHeader()));
const line = (text: string): Buffer => Buffer.from(`${JSON.stringify({ type: "x:note", text })}\n`);

/** Bytes that no encoding or normalisation survives unchanged, with no newline at their end. */
const oddBytes = Buffer.concat([
  Buffer.from("\uFEFF"),
  header,
  Buffer.from('\r\n{"b":1,"a":1.0,"a":1e2}\r\n\n  \u2028\n'),
  Buffer.from([0, 0, 0xff, 0xfe, 0x0a, 0xc3, 0x28, 0x0a]),
  Buffer.from('{"type":"x:note","torn":'),
]);

async function bytesFrom(log: StoredLog, from: StoredPosition): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of log.read(from)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

async function endOf(log: StoredLog): Promise<StoredPosition> {
  const end = await log.end();
  ok(end !== undefined, "the log has an end");
  return end;
}

async function allOf(log: StoredLog): Promise<Buffer> {
  return bytesFrom(log, { ...(await endOf(log)), at: 0 });
}

const isCode = (code: string) => (error: unknown) =>
  error instanceof Error && "code" in error && error.code === code;

const ofBytes: readonly Check[] = [
  [
    "returns the bytes that were appended, whatever they are",
    async (store) => {
      const pieces = Array.from({ length: oddBytes.length / 3 + 1 }, (_, at) =>
        oddBytes.subarray(at * 3, at * 3 + 3),
      );
      const log = await store.create("odd", pieces);
      deepStrictEqual(await allOf(log), oddBytes);
      deepStrictEqual(await allOf(await store.open("odd")), oddBytes);
      strictEqual((await endOf(log)).at, oddBytes.length);
    },
  ],
  [
    "returns the bytes after a position, and none at the end",
    async (store) => {
      const log = await store.create("log", [header]);
      const start = await endOf(log);
      await log.append(start, line("one"));
      deepStrictEqual(await bytesFrom(log, start), line("one"));
      deepStrictEqual(await bytesFrom(log, await endOf(log)), Buffer.alloc(0));
    },
  ],
  [
    "accepts a megabyte in one append, and returns it in order",
    async (store) => {
      const log = await store.create("log", [header]);
      const large = line("x".repeat(1024 * 1024));
      strictEqual((await log.append(await endOf(log), large)).kind, "appended");
      deepStrictEqual(await allOf(log), Buffer.concat([header, large]));
    },
  ],
];

const ofAppends: readonly Check[] = [
  [
    "appends at the end, and reports the new end",
    async (store) => {
      const log = await store.create("log", [header]);
      const start = await endOf(log);
      const answer = await log.append(start, line("one"));
      const end = { ...start, at: start.at + line("one").length };
      deepStrictEqual(answer, { kind: "appended", end });
      deepStrictEqual(await (await store.open("log")).end(), end);
    },
  ],
  [
    "stores nothing of a conflicting append, and reports the end of the log",
    async (store) => {
      const [one, other] = [await store.create("log", [header]), await store.open("log")];
      const start = await endOf(one);
      await other.append(start, line("other"));
      const end = await endOf(other);
      for (const mine of ["mine!", "a longer one"]) {
        const { kind, end: told, since } = requireConflict(await one.append(start, line(mine)));
        deepStrictEqual({ kind, end: told }, { kind: "conflict", end });
        deepStrictEqual(since ?? line("other"), line("other"));
      }
      deepStrictEqual(await allOf(one), Buffer.concat([header, line("other")]));
    },
  ],
  [
    "recognises an append that is stored already, also when others follow it",
    async (store) => {
      const log = await store.create("log", [header]);
      const start = await endOf(log);
      await log.append(start, line("one"));
      strictEqual((await log.append(start, line("one"))).kind, "alreadyStored");
      await log.append(await endOf(log), line("two"));
      const again = await log.append(start, line("one"));
      deepStrictEqual(again, { kind: "alreadyStored", end: await endOf(log) });
      deepStrictEqual(await allOf(log), Buffer.concat([header, line("one"), line("two")]));
    },
  ],
  [
    "stores each of eight writers' appends once, whole, in some order",
    async (store) => {
      await store.create("log", [header]);
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        const log = await store.open("log");
        for (let n = 0; n < 5; n += 1) {
          const bytes = Buffer.concat([line(`${writer}-${n}`), line(`${writer}-${n}+`)]);
          let end = await endOf(log);
          for (;;) {
            const answer = await log.append(end, bytes);
            if (answer.kind === "appended") break;
            ({ end } = requireConflict(answer));
          }
        }
      });
      await Promise.all(writers);
      const stored = (await allOf(await store.open("log"))).subarray(header.length).toString();
      const lines = stored.split("\n").slice(0, -1);
      strictEqual(lines.length, 80);
      strictEqual(new Set(lines).size, 80);
      for (let at = 0; at < lines.length; at += 2) {
        strictEqual(lines[at + 1], lines[at]?.replace('"}', '+"}'));
      }
    },
  ],
  [
    "reports a log as gone after it was removed or replaced",
    async (store) => {
      const log = await store.create("log", [header, line("one")]);
      const end = await endOf(log);
      await store.remove("log");
      strictEqual(await log.end(), undefined);
      deepStrictEqual(await log.append(end, line("two")), { kind: "gone" });
      const other = Buffer.from(jsonLines(sampleHeader({ id: "t" })));
      await store.create("log", [other, line("one")]);
      deepStrictEqual(await log.append(end, line("two")), { kind: "gone" });
      await rejects(bytesFrom(log, { ...end, at: 0 }), isCode("ERR_LOG_GONE"));
      deepStrictEqual(await allOf(await store.open("log")), Buffer.concat([other, line("one")]));
    },
  ],
  [
    "hints at appends until the watcher unsubscribes",
    async (store) => {
      const log = await store.create("log", [header]);
      let leave: () => void = () => undefined;
      await new Promise<void>((resolve) => {
        leave = log.watch(resolve);
        void endOf(log).then((end) => log.append(end, line("one")));
      });
      leave();
      leave();
    },
  ],
];

const ofNames: readonly Check[] = [
  [
    "creates a name once, and lists all logs",
    async (store) => {
      for (const name of ["a", "B-2", "0.c_d"]) await store.create(name, [header]);
      await rejects(store.create("a", [line("other")]), isCode("ERR_LOG_EXISTS"));
      const names: string[] = [];
      for await (const name of store.names()) names.push(name);
      deepStrictEqual(names.toSorted(), ["0.c_d", "B-2", "a"]);
      deepStrictEqual(await allOf(await store.open("a")), header);
    },
  ],
  [
    "leaves nothing of a log whose bytes could not be read",
    async (store) => {
      const pieces = (function* (): Generator<Buffer> {
        yield header;
        throw new Error("no more");
      })();
      await rejects(store.create("half", pieces), /no more/);
      await rejects(store.open("half"), isCode("ERR_LOG_MISSING"));
    },
  ],
  [
    "has no log of a name that was not created, or was removed",
    async (store) => {
      await rejects(store.open("none"), isCode("ERR_LOG_MISSING"));
      await rejects(store.remove("none"), isCode("ERR_LOG_MISSING"));
      await store.create("one", [header]);
      await store.remove("one");
      await rejects(store.open("one"), isCode("ERR_LOG_MISSING"));
    },
  ],
  [
    "rejects invalid names",
    async (store) => {
      for (const name of [
        "",
        ".",
        "..",
        "../a",
        "a/b",
        "a\\b",
        "a b",
        "ä",
        "a\0",
        "x".repeat(201),
      ]) {
        await rejects(store.open(name), isCode("ERR_INVALID_ARGUMENT"), name);
        await rejects(store.create(name, [header]), isCode("ERR_INVALID_ARGUMENT"), name);
        await rejects(store.remove(name), isCode("ERR_INVALID_ARGUMENT"), name);
      }
    },
  ],
];

const note = (text: string): { type: "custom"; customType: string; data: string } => ({
  type: "custom",
  customType: "note",
  data: text,
});

async function notesIn(store: LogStore): Promise<string[]> {
  const session = await openStoredSession(await store.open("s"));
  const notes: string[] = [];
  for await (const entry of session.entries()) {
    if (entry.type === "custom") notes.push(String(entry.data));
  }
  return notes;
}

const ofSessions: readonly Check[] = [
  [
    "holds a session that is appended to and read like one in a file",
    async (store) => {
      const session = await openStoredSession(await store.create("s", [header]));
      const [first, second] = await session.appendAll([note("one"), note("two")]);
      strictEqual(second?.parentId, first?.id);
      strictEqual(first?.position.offset, header.length);
      strictEqual(session.leaf, second?.id);
      deepStrictEqual(await notesIn(store), ["one", "two"]);
    },
  ],
  [
    "lets a session read entries of other writers, and append after them",
    async (store) => {
      const one = await openStoredSession(await store.create("s", [header]));
      const other = await openStoredSession(await store.open("s"));
      const theirs = await other.append(note("theirs"));
      await one.refresh();
      strictEqual(one.leaf, theirs.id);
      strictEqual((await one.append(note("mine"))).parentId, theirs.id);
      deepStrictEqual(await notesIn(store), ["theirs", "mine"]);
    },
  ],
  [
    "lets eight sessions append at once: all entries are stored once, below existing entries",
    async (store) => {
      await store.create("s", [header]);
      const sessions = await Promise.all(
        Array.from({ length: 8 }, async () => openStoredSession(await store.open("s"))),
      );
      await Promise.all(
        sessions.map(async (session, at) => {
          for (let n = 0; n < 5; n += 1) {
            await session.append(note(`${at}-${n}`), { parent: "tail" });
          }
        }),
      );
      const session = await openStoredSession(await store.open("s"));
      strictEqual(session.revision, 40);
      deepStrictEqual(session.diagnostics, []);
      strictEqual(new Set(await notesIn(store)).size, 40);
      // Each is below the last one before it.
      strictEqual(session.tips().length, 1);
    },
  ],
  [
    "rejects an append when the tail is not the expected one, and stores nothing",
    async (store) => {
      const one = await openStoredSession(await store.create("s", [header]));
      const other = await openStoredSession(await store.open("s"));
      const { id } = await other.append(note("theirs"));
      await rejects(
        one.append(note("mine"), { expectedTail: null }),
        (error: Error & { tail?: unknown }) => isCode("ERR_CONFLICT")(error) && error.tail === id,
      );
      deepStrictEqual(await notesIn(store), ["theirs"]);
    },
  ],
  [
    "returns the position of an entry appended again, and rejects another one with its id",
    async (store) => {
      const one = await openStoredSession(await store.create("s", [header]));
      const first = await one.append(note("one"), { id: "own" });
      const other = await openStoredSession(await store.open("s"));
      await other.append(note("two"));
      const again = await one.append(note("one"), { id: "own" });
      deepStrictEqual(again.position, first.position);
      await rejects(one.append(note("three"), { id: "own" }), isCode("ERR_DUPLICATE_ID"));
      deepStrictEqual(await notesIn(store), ["one", "two"]);
    },
  ],
  [
    "keeps a truncated end of a log, and lets a session append after it",
    async (store) => {
      const cut = Buffer.concat([header, Buffer.from('{"type":"custom","customType":"note"')]);
      const session = await openStoredSession(await store.create("s", [cut]));
      await session.append(note("behind"));
      deepStrictEqual((await allOf(await store.open("s"))).subarray(0, cut.length), cut);
      deepStrictEqual(await notesIn(store), ["behind"]);
    },
  ],
  [
    "reports to a session that its log is gone",
    async (store) => {
      const session = await openStoredSession(await store.create("s", [header]));
      await store.remove("s");
      await rejects(session.append(note("lost")), isCode("ERR_LOG_GONE"));
      await rejects(session.refresh(), isCode("ERR_LOG_GONE"));
      strictEqual(session.revision, 0);
    },
  ],
];

function requireConflict(answer: StoredAppend): StoredAppend & { readonly kind: "conflict" } {
  ok(answer.kind === "conflict", answer.kind);
  return answer;
}
