/** Documents and databases in the search index: they are read where they may match, or changed. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { agentNamed, registerAgents } from "@branchlog/core/rows";
import type { Agent } from "@branchlog/core/rows";
import { searchIndexState, updateSearchIndex } from "@branchlog/library";
import { stampBeside } from "../../../packages/library/src/catalog/agent-files.ts";
import { databaseOf, dumpOf } from "../../agents/opencode/opencode-fixtures.ts";
import { writeDatabase } from "../../support/database-file.ts";
import { fixturePath } from "../../tools/import/imported.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { search, searchBoth } from "./searched-both.ts";

const clineId = "1795941218519_16gyt";

beforeEach(() => {
  vi.stubEnv("BRANCHLOG_CACHE_DIR", temporaryDirectory());
});

afterEach(() => {
  vi.unstubAllEnvs();
});

interface Documents {
  readonly root: string;
  readonly database: string;
  readonly messages: string;
  readonly manifest: string;
}

/** Of three agents; a database of times long ago. */
async function documents(): Promise<Documents> {
  const root = temporaryDirectory();
  const put = (fixture: string, place: string): string => {
    const path = join(root, place);
    mkdirSync(dirname(path), { recursive: true });
    cpSync(fixturePath(fixture), path, { recursive: true });
    return path;
  };
  const directory = put(`cline/${clineId}`, clineId);
  put("gemini/session-0.30.0.json", "chats/session-2026-01-01T00-00-01234567.json");
  const tables = ["session", "message", "part"];
  const earlier = tables.map(
    (table) => `UPDATE ${table} SET time_updated = time_created - 10000000000;`,
  );
  const database = await databaseOf(root, dumpOf("1.18.33"), ...earlier);
  return {
    root,
    database,
    messages: join(directory, `${clineId}.messages.json`),
    manifest: join(directory, `${clineId}.json`),
  };
}

/** Counts the documents that are made into logs. */
function madeLogs(): string[] {
  const made: string[] = [];
  const agents = ["cline", "gemini", "opencode"].flatMap((name) => agentNamed(name) ?? []);
  const counted = agents.map((agent): Agent => {
    const { documents: format } = agent;
    if (format === undefined) return agent;
    const toLog: typeof format.toLog = (path, given) => {
      made.push(basename(path));
      return format.toLog(path, given);
    };
    return { ...agent, documents: { ...format, toLog } };
  });
  registerAgents(counted);
  onTestFinished(() => void registerAgents(agents));
  return made;
}

/** Until a later change of the files would show in their times. */
async function settled({ messages, manifest }: Documents): Promise<void> {
  await vi.waitFor(() => {
    expect(stampBeside(messages)).toBeDefined();
    expect(stampBeside(manifest)).toBeDefined();
  });
}

const words = ["rates", "list", "shop", "Nothing", "unheard", "check", "file"];

describe("a search by the index", () => {
  it("converts no document without a match, and finds the same as without an index", async () => {
    const found = await documents();
    await settled(found);
    const update = await updateSearchIndex({ places: [found.root, found.database] });
    expect(update.files).toBeGreaterThan(3);
    const made = madeLogs();
    for (const word of words) {
      const { hits } = await searchBoth([found.root, found.database], word);
      if (word === "rates" || word === "list") expect(hits.length).toBeGreaterThan(0);
    }
    made.length = 0;
    const { hits, unindexedBytes } = await search([found.root, found.database], "unheard");
    expect([hits, unindexedBytes, made]).toEqual([[], 0, []]);
    await search([found.root, found.database], "Nothing");
    expect(made.length).toBeLessThan(update.files);
    const again = await updateSearchIndex({ places: [found.root, found.database] });
    expect(again).toMatchObject({ files: 0, bytes: 0, removed: 0 });
  });

  it("finds the same as without an index, after any changes since the update", async () => {
    const change = fc.constantFrom("row", "session", "messages", "manifest", "removed", "update");
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        vi.stubEnv("BRANCHLOG_CACHE_DIR", temporaryDirectory());
        const found = await documents();
        const places = [found.root, found.database];
        await settled(found);
        await updateSearchIndex({ places });
        for (const [number, one] of changes.entries()) {
          const word = `Zanzibar${"ABCD"[number] ?? ""}`;
          await changed(found, one, { word, number });
          if (one === "update") await updateSearchIndex({ places });
          // It asks with the index and without.
          for (const query of [word, "rates", "list"]) await searchBoth(places, query);
        }
        const { hits } = await searchBoth(places, "Zanzibar");
        const wanted = changes.filter((one) => one === "row" || one === "messages");
        if (wanted.length > 0 && !changes.includes("removed")) expect(hits).not.toEqual([]);
      }),
      { numRuns: 12 },
    );
  });

  it("keeps sessions of a database outside its directories, and drops missing ones", async () => {
    const found = await documents();
    await settled(found);
    await updateSearchIndex({ places: [found.root, found.database] });
    const files = async (): Promise<number> => (await searchIndexState()).index?.files ?? 0;
    const before = await files();
    const other = temporaryDirectory();
    expect(await updateSearchIndex({ places: [other] })).toMatchObject({ removed: 0 });
    await writeDatabase(found.database, "DELETE FROM session WHERE parent_id IS NOT NULL;");
    const { removed } = await updateSearchIndex({ places: [found.database] });
    expect(removed).toBeGreaterThan(0);
    expect(await files()).toBe(before - removed);
    rmSync(found.database);
    await updateSearchIndex({ places: [other] });
    expect(await files()).toBeLessThan(before - removed);
  });
});

/** As the agents change them: each change is later than those before. */
async function changed(
  found: Documents,
  change: string,
  { word, number }: { readonly word: string; readonly number: number },
): Promise<void> {
  const time = `time_updated = time_created - 9000000000 + ${number}`;
  const { database, messages, manifest } = found;
  if (change === "row") {
    const text = JSON.stringify({ type: "text", text: word });
    const where = "WHERE json_extract(data, '$.type') = 'text'";
    const id = `(SELECT id FROM part ${where} ORDER BY id LIMIT 1)`;
    await writeDatabase(
      database,
      `UPDATE part SET data = '${text}' WHERE id = ${id};`,
      `UPDATE message SET ${time};`,
    );
  } else if (change === "session") {
    await writeDatabase(database, `UPDATE session SET title = '${word}', ${time};`);
  } else if (change === "messages") {
    const text = readFileSync(messages, "utf8");
    writeFileSync(messages, text.replace(/"text":"/, `"text":"${word} `));
  } else if (change === "manifest") {
    const stored = JSON.parse(readFileSync(manifest, "utf8")) as { readonly metadata: object };
    const metadata = { ...stored.metadata, title: word };
    writeFileSync(manifest, JSON.stringify({ ...stored, metadata }));
  } else if (change === "removed") rmSync(dirname(messages), { recursive: true, force: true });
}
