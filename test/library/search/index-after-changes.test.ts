/** What is found by the index after sessions were changed in any way since it was updated. */
import { appendFileSync, closeSync, copyFileSync, cpSync, mkdirSync, openSync } from "node:fs";
import { readFileSync, renameSync, rmSync, statSync, truncateSync } from "node:fs";
import { writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { dropSearchIndex, updateSearchIndex } from "@branchlog/library";
import type { SearchOptions } from "@branchlog/library";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { arbitraryLines } from "../catalog/arbitrary-session.ts";
import { header, jsonl, user } from "../catalog/session-lines.ts";
import { claudePrompt, longSession, longTranscript, placeOf } from "./searched-both.ts";
import { search, searchBoth, writeLong } from "./searched-both.ts";

const fieldInputs = fileURLToPath(new URL("../../../fixtures/transcripts/field", import.meta.url));

beforeEach(() => {
  vi.stubEnv("BRANCHLOG_CACHE_DIR", temporaryDirectory());
});

afterEach(() => {
  vi.unstubAllEnvs();
});

function overwrite(path: string, text: string, at: number): void {
  const descriptor = openSync(path, "r+");
  try {
    writeSync(descriptor, text, at);
  } finally {
    closeSync(descriptor);
  }
}

/** Before and after an update, a word is found as often as it should be, by the index and without. */
async function expectFound(directory: string, word: string, count: number): Promise<void> {
  expect((await searchBoth(directory, word)).hits.length).toBe(count);
  await updateSearchIndex({ places: [directory] });
  const { hits, unindexedBytes } = await searchBoth(directory, word);
  expect([hits.length, unindexedBytes]).toEqual([count, 0]);
}

describe("the search index after a change", () => {
  it("finds text overwritten in a file without changing its size", async () => {
    const directory = temporaryDirectory();
    const path = writeLong(directory, "s.jsonl", [user("a wombat"), user("the end")]);
    await updateSearchIndex({ places: [directory] });
    overwrite(path, "badger", placeOf(path, "wombat"));
    await expectFound(directory, "badger", 1);
    await expectFound(directory, "wombat", 0);
  });

  it("finds text in a file that replaced another of its size", async () => {
    const directory = temporaryDirectory();
    const path = writeLong(directory, "s.jsonl", [user("a wombat"), user("the end")]);
    await updateSearchIndex({ places: [directory] });
    writeFileSync(`${path}.new`, readFileSync(path, "utf8").replace("wombat", "badger"));
    renameSync(`${path}.new`, path);
    await expectFound(directory, "badger", 1);
  });

  const beginnings = ["", "\n", '{"foo":1}\n', '{"type":"summary","summary":"x","leafUuid":"q"}\n'];
  it.each(beginnings)("finds text after %j at the start of a file", async (beginning) => {
    const directory = temporaryDirectory();
    const [log, transcript] = ["log.jsonl", "transcript.jsonl"].map((one) => join(directory, one));
    for (const path of [log, transcript]) writeFileSync(path ?? "", beginning);
    await updateSearchIndex({ places: [directory] });
    appendFileSync(log ?? "", jsonl(longSession([user("a wombat")])));
    appendFileSync(transcript ?? "", jsonl(longTranscript([claudePrompt("another wombat")])));
    const { hits } = await search(directory, "wombat", { index: "off" });
    expect(hits.length).toBeGreaterThan(0);
    await expectFound(directory, "wombat", hits.length);
  });

  it("finds text in an earlier part of an overwritten session", async () => {
    const home = temporaryDirectory();
    const thread = "019f1000-0000-7000-8000-0000000000b0";
    const part = "019f1000-0000-7000-8000-0000000000b";
    const names = {
      first: `19/rollout-2026-11-19T09-00-00-${thread}.jsonl`,
      reverted: `19/rollout-2026-11-19T10-00-00-${thread}_${part}1.jsonl`,
      last: `20/rollout-2026-11-19T11-00-00-${thread}_${part}2.jsonl`,
    };
    const paths = Object.entries(names).map(([name, place]) => {
      const path = join(home, "sessions/2026/11", place);
      mkdirSync(dirname(path), { recursive: true });
      copyFileSync(join(fieldInputs, "codex-parts", `${name}.jsonl`), path);
      return path;
    });
    await updateSearchIndex({ places: [home] });
    const [first = ""] = paths;
    writeFileSync(first, readFileSync(first, "utf8").replaceAll("basket", "zebras"));
    for (const place of [home, ...paths]) await searchBoth(place, "zebras");
    await updateSearchIndex({ places: [home] });
    for (const place of [home, ...paths]) await searchBoth(place, "zebras");
    expect((await search(home, "zebras")).hits.length).toBeGreaterThan(0);
  });

  it("finds text in files next to a session that were missing for a while", async () => {
    const directory = temporaryDirectory();
    cpSync(join(fieldInputs, "large-result.jsonl"), join(directory, "large-result.jsonl"));
    cpSync(join(fieldInputs, "large-result"), join(directory, "large-result"), { recursive: true });
    const results = join(directory, "large-result", "tool-results");
    appendFileSync(join(results, "toolu_1.txt"), "\nzebrafish\n");
    renameSync(results, `${results}.away`);
    await updateSearchIndex({ places: [directory] });
    await expectFound(directory, "zebrafish", 0);
    renameSync(`${results}.away`, results);
    await expectFound(directory, "zebrafish", 1);
  });

  it("does not count data as missing that an update would not read", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "transcript.jsonl");
    writeFileSync(path, jsonl(longTranscript([])));
    writeFileSync(join(directory, "other.jsonl"), '{"foo":1}\n');
    await updateSearchIndex({ places: [directory] });
    appendFileSync(path, jsonl([claudePrompt("a wombat")]));
    appendFileSync(join(directory, "other.jsonl"), '{"foo":2}\n'.repeat(9000));
    const grown = await searchBoth(directory, "wombat");
    expect([grown.hits.length, grown.unindexedBytes]).toEqual([1, 0]);
    await updateSearchIndex({ places: [directory] });
    expect((await searchBoth(directory, "wombat")).hits.length).toBe(1);
    appendFileSync(path, jsonl(longTranscript([])));
    expect((await searchBoth(directory, "wombat")).unindexedBytes).toBeGreaterThan(0);
    expect((await updateSearchIndex({ places: [directory] })).bytes).toBeGreaterThan(0);
    expect((await searchBoth(directory, "wombat")).unindexedBytes).toBe(0);
  });
});

const said =
  "alpha Beta delta42 x1y2 foo_bar Größe ΟΔΟΣ İzmir 会話 a/b.ts 127.0.0.1 kiss straße µm";
const texts = fc
  .array(fc.constantFrom(...said.split(" ")), { minLength: 1, maxLength: 5 })
  .chain((words) => fc.constantFrom(" ", ", ", "\n", "").map((gap) => words.join(gap)));
const transcriptLines = fc
  .array(texts, { maxLength: 60 })
  .map((all) => all.map((text) => JSON.stringify(claudePrompt(text))));
const sessionLines = fc.oneof(
  arbitraryLines,
  fc.array(texts, { maxLength: 60 }).map((all) => all.map((text) => JSON.stringify(user(text)))),
);

const action = fc.oneof(
  { weight: 3, arbitrary: fc.constant("append" as const) },
  { weight: 2, arbitrary: fc.constant("write" as const) },
  { weight: 2, arbitrary: fc.constant("overwrite" as const) },
  { weight: 1, arbitrary: fc.constant("replace" as const) },
  { weight: 1, arbitrary: fc.constant("cut" as const) },
  { weight: 1, arbitrary: fc.constant("remove" as const) },
  { weight: 3, arbitrary: fc.constant("update" as const) },
);

const step = fc.record({
  action,
  fileName: fc.constantFrom("a.jsonl", "b.jsonl"),
  sessionLines,
  transcriptLines,
  isTranscript: fc.boolean(),
  isLong: fc.boolean(),
  place: fc.nat(),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Changes the files of a directory, in which the index may be updated in between. */
class ChangedFiles {
  readonly #directory: string;
  /** What was changed since the last update, by its path. */
  readonly #changes = new Map<string, "grown" | "rewritten">();

  constructor(directory: string) {
    this.#directory = directory;
  }

  async take(taken: Step): Promise<void> {
    const { fileName, isTranscript, isLong, place } = taken;
    const path = join(this.#directory, fileName);
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const lines = isTranscript ? taken.transcriptLines : taken.sessionLines;
    const long = isTranscript ? longTranscript : longSession;
    switch (taken.action) {
      case "append":
        if (this.#isOnly(path, "grown")) appendFileSync(path, jsonl(lines));
        break;
      case "write":
        this.#changes.set(path, "rewritten");
        writeFileSync(path, jsonl(isLong ? long(lines) : [header(), ...lines]));
        break;
      case "overwrite":
        if (size > 10 && this.#isOnly(path, "rewritten")) {
          overwrite(path, "alpha", place % (size - 5));
        }
        break;
      case "replace":
        if (size > 0 && this.#isOnly(path, "rewritten")) {
          writeFileSync(`${path}.new`, readFileSync(path, "utf8").replaceAll("alpha", "omega"));
          renameSync(`${path}.new`, path);
        }
        break;
      case "cut":
        if (size > 0) truncateSync(path, place % size);
        break;
      case "remove":
        rmSync(path, { force: true });
        break;
      case "update":
        await updateSearchIndex({ places: [this.#directory] });
        this.#changes.clear();
        break;
      default:
        taken.action satisfies never;
    }
  }

  /** One that is changed before the cursor and made longer at once may be treated as one that grew. */
  #isOnly(path: string, change: "grown" | "rewritten"): boolean {
    const before = this.#changes.get(path) ?? change;
    this.#changes.set(path, before);
    return before === change;
  }
}

describe("the search index", () => {
  it("finds the same as reading all files after any mix of changes and updates", async () => {
    const words = [...said.split(" "), "lorem", "omega", "ipsum 99", "user", "hi", "nothing of it"];
    const query = fc
      .record({ word: fc.constantFrom(...words), from: fc.nat({ max: 4 }), upTo: fc.nat() })
      .map(({ word, from, upTo }) => word.slice(from, from + 1 + (upTo % word.length)))
      .filter((text) => text.trim() !== "");
    const options: fc.Arbitrary<SearchOptions> = fc.oneof(
      { weight: 3, arbitrary: fc.constant({}) },
      fc.constantFrom<SearchOptions>(
        { exact: true },
        { kinds: ["name"] },
        { kinds: ["message"] },
        { regex: true },
      ),
    );
    const steps = fc.array(fc.tuple(step, query, options), { minLength: 3, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const directory = temporaryDirectory();
        await dropSearchIndex();
        const files = new ChangedFiles(directory);
        for (const [change, searched, how] of taken) {
          await files.take(change);
          await searchBoth(directory, searched, how);
        }
      }),
      { numRuns: 40 },
    );
  });
});
