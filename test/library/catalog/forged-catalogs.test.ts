/**
 * Forged catalogs of this user, with right checksums: a line that no session file could have costs
 * that line, and one that counts has the shape of a session. The other files are listed as they
 * are, nothing hangs, no error is raw, and no object but their own is touched.
 */
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ListedSession } from "@branchlog/library";
import { hostileValues, membersOf } from "../../core/checkpoint/forged-checkpoint.ts";
import type { Json } from "../../core/checkpoint/forged-checkpoint.ts";
import {
  bytesReadBy,
  catalogPath,
  linesIn,
  list,
  namesIn,
  savedDirectory,
  withLines,
} from "./saved-directory.ts";
import { jsonl, user } from "./session-lines.ts";
import { patience, runs, seed } from "../../support/fault-seed.ts";
import { everyCase } from "../../support/law-time.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** One change of one line. Numbers choose among what there is. */
interface Forgery {
  readonly line: number;
  readonly kind: "member" | "missing-member" | "added-member" | "text";
  readonly at: number;
  readonly value: unknown;
}

const forgeries: fc.Arbitrary<readonly Forgery[]> = fc.array(
  fc.record({
    line: fc.nat(),
    kind: fc.constantFrom("member", "missing-member", "added-member", "text"),
    at: fc.nat(),
    value: fc.oneof(fc.constantFrom(...hostileValues), fc.integer(), fc.nat(40), fc.json()),
  }),
  { minLength: 1, maxLength: 3 },
);

let directory = "";
let lines: readonly string[] = [];
let whole = Buffer.alloc(0);
let truth: readonly ListedSession[] = [];

beforeAll(async () => {
  directory = await savedDirectory(mkdtempSync(join(tmpdir(), "branchlog-forged-")));
  whole = readFileSync(catalogPath(directory));
  lines = linesIn(whole);
  truth = await list(directory, { saved: "off" });
});

afterAll(() => rmSync(directory, { recursive: true }));

/** A catalog of these lines. */
const catalogOf = (changed: readonly string[]): Buffer => withLines(whole, changed);

function forgedLine(line: string, { kind, at, value }: Forgery): string {
  if (kind === "text") return JSON.stringify(value) ?? "";
  const record = JSON.parse(line) as Json;
  const members = [...membersOf(record)];
  const [owner, key] = members[at % members.length] ?? [record, "name"];
  const name = kind === "added-member" ? "__proto__" : key;
  if (kind === "missing-member") delete owner[key];
  else
    Object.defineProperty(owner, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return JSON.stringify(record);
}

/** What every session of a list promises, whatever its file holds. */
function expectSession({ header, name, summary, dialect, ...rest }: ListedSession): void {
  expect(header.type).toBe("session");
  expect(typeof header.id).toBe("string");
  expect(["string", "undefined"]).toContain(typeof name);
  expect(["string", "undefined"]).toContain(typeof summary.firstMessage);
  expect(Number.isSafeInteger(summary.messageCount)).toBe(true);
  expect(["pi", "omp"]).toContain(dialect);
  expect(Number.isNaN(new Date(rest.modifiedMs).getTime())).toBe(false);
  expect(rest.sizeBytes).toBe(truth.find(({ path }) => path === rest.path)?.sizeBytes);
}

describe(`forged catalogs, BRANCHLOG_SEED=${seed}`, () => {
  it(
    "a list has every file that was not forged as it is, when lines of a catalog are forged " +
      "(Verifies: P18, P21)",
    patience,
    async () => {
      const count = { same: 0, different: 0 };
      await fc.assert(
        fc.asyncProperty(forgeries, async (changes) => {
          const changed = [...lines];
          const forged = new Set<string>();
          for (const change of changes) {
            const at = change.line % lines.length;
            forged.add((JSON.parse(lines[at] ?? "") as { name: string }).name);
            changed[at] = forgedLine(lines[at] ?? "", change);
          }
          writeFileSync(catalogPath(directory), catalogOf(changed));
          const sessions = await list(directory, { saved: "read" });
          const others = ({ path }: ListedSession): boolean => !forged.has(basename(path));
          expect(sessions.filter(others)).toEqual(truth.filter(others));
          for (const session of sessions) expectSession(session);
          count[isDeepStrictEqual(sessions, truth) ? "same" : "different"] += 1;
          expect(Object.keys(Object.prototype)).toEqual([]);
          expect(({} as Json)["forged"]).toBeUndefined();
        }),
        { seed, numRuns: runs(80, 10_000), ...everyCase },
      );
      process.stdout.write(`forged catalogs: ${JSON.stringify(count)}\n`);
      expect(count.same).toBeGreaterThan(0);
    },
  );

  const badLines: readonly (readonly [string, (line: Json) => unknown])[] = [
    ["null", () => null],
    ["not JSON", () => undefined],
    ["a header that is null", (line) => ({ ...line, session: withMember(line, "header", null) })],
    ["a header of another type", (line) => ({ ...line, session: withMember(line, "header", {}) })],
    ["a summary that is a list", (line) => ({ ...line, session: withMember(line, "summary", []) })],
    ["a stamp that is short", (line) => ({ ...line, stamp: ["1:1"] })],
    [
      "a negative place",
      (line) => ({ ...line, place: { ...(line["place"] as Json), offset: -1 } }),
    ],
    [
      "a place behind the end",
      (line) => ({ ...line, place: { ...(line["place"] as Json), offset: 9e9 } }),
    ],
    ["the name of no session file", (line) => ({ ...line, name: "../large.jsonl" })],
  ];

  it.each(badLines)("a catalog loses only that line when one is %s", async (_, change) => {
    const changed = lines.map((line) => {
      const record = JSON.parse(line) as Json;
      return record["name"] === "large.jsonl" ? (JSON.stringify(change(record)) ?? "{") : line;
    });
    const bytes = catalogOf(changed);
    expect(namesIn(bytes)).toEqual(["empty.jsonl", "other.jsonl", "small.jsonl"]);
    writeFileSync(catalogPath(directory), bytes);
    expect(await list(directory, { saved: "read" })).toEqual(truth);
  });

  it("reading continues from a forged position only if its digest matches the file", async () => {
    const copy = await savedDirectory(temporaryDirectory());
    const path = join(copy, "small.jsonl");
    const changed = linesIn(readFileSync(catalogPath(copy))).map((line) => {
      const record = JSON.parse(line) as Json;
      if (record["name"] !== "small.jsonl") return line;
      return JSON.stringify({ ...record, place: { ...(record["place"] as Json), offset: 20 } });
    });
    appendFileSync(path, jsonl([user("three")]));
    writeFileSync(catalogPath(copy), catalogOf(changed));
    expect(await list(copy, { saved: "read" })).toEqual(await list(copy, { saved: "off" }));
  });
});

describe("a catalog that others can write", () => {
  const untrusted: readonly (readonly [string, (path: string) => void])[] = [
    ["its group may write it", (path) => chmodSync(path, 0o620)],
    ["everybody may write it", (path) => chmodSync(path, 0o602)],
    [
      "it is a symbolic link",
      (path) => {
        renameSync(path, `${path}.target`);
        symlinkSync(`${path}.target`, path);
      },
    ],
  ];

  it.each(untrusted)("is not read when %s", async (_, change) => {
    const copy = await savedDirectory(temporaryDirectory());
    expect(await bytesReadBy(() => list(copy, { saved: "read" }))).toBe(0);
    change(catalogPath(copy));
    const read = await bytesReadBy(() => list(copy, { saved: "read" }));
    expect(read).toBeGreaterThan(1_000_000);
  });
});

function withMember(line: Json, key: string, value: unknown): Json {
  return { ...(line["session"] as Json), [key]: value };
}
