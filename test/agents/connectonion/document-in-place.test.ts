/** Documents of ConnectOnion as sessions: opened, followed and listed in place, never written. */
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { collected } from "../../support/collected.ts";
import { importConnectonion, openConnectonion } from "@branchlog/agents/connectonion";
import { BranchlogError, forkSession, openSession } from "@branchlog/core";
import type { Session, SessionEntry } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { archiveSessions, findSessions, restoreSession } from "@branchlog/library";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath } from "../../tools/import/imported.ts";
import { arbitraryData, textOf } from "./documents.ts";

const names = ["connectonion-ideal", "connectonion-dumped", "connectonion-nested"];

function documentOf(text: string): string {
  const directory = join(temporaryDirectory(), ".co", "sessions");
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "agent.yaml");
  writeFileSync(path, text);
  return path;
}

function fixtureText(name: string): string {
  return readFileSync(fixturePath(`${name}.yaml`), "utf8");
}

const open: Session[] = [];

afterEach(async () => {
  for (const session of open.splice(0)) await session.close();
});

async function opened(path: string): Promise<Session> {
  const session = await openSession(path);
  open.push(session);
  return session;
}

const entriesOf = (session: Session): Promise<SessionEntry[]> => collected(session.entries());

/** The texts, without ids and times. */
function said(entries: readonly SessionEntry[]): unknown[] {
  return entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}

describe("a document of ConnectOnion", () => {
  it.each(names)("%s has the same entries in place and imported", async (name) => {
    const path = documentOf(fixtureText(name));
    const session = await opened(path);
    const log = join(temporaryDirectory(), "imported.jsonl");
    await importConnectonion(path, log);
    const [here, there] = [await entriesOf(session), await entriesOf(await opened(log))];
    expect(said(here)).toEqual(said(there));
    expect(said(here).length).toBeGreaterThan(2);
    const [first] = here.filter(({ id }) => id.startsWith("turn:"));
    expect(first?.id).toBe("turn:1");
    expect(session.transcriptOf).toBe("connectonion");
  });

  it("is read-only: an append is rejected, and forks need a target", async () => {
    const path = documentOf(fixtureText("connectonion-ideal"));
    const bytes = readFileSync(path);
    const session = await opened(path);
    const refused = session.append({ type: "custom", customType: "x:y" });
    await expect(refused).rejects.toMatchObject({ code: "ERR_READ_ONLY", path });
    await expect(forkSession(path)).rejects.toThrow("a document of ConnectOnion");
    const target = join(temporaryDirectory(), "fork.jsonl");
    await forkSession(path, { target });
    expect(said(await entriesOf(await opened(target)))).toEqual(said(await entriesOf(session)));
    expect([readFileSync(path), readdirSync(join(path, ".."))]).toEqual([bytes, ["agent.yaml"]]);
  });

  it("is followed: only turns that its agent adds are new entries", async () => {
    const path = documentOf(fixtureText("connectonion-dumped"));
    const session = await opened(path);
    const ids: string[] = [];
    const follow = live(session)
      .entries$()
      .subscribe(({ kind, entry }) => ids.push(entry?.id ?? kind));
    await vi.waitFor(() => expect(ids.length).toBe(session.revision), 50_000);
    const [generation, before] = [session.revision, [...ids]];
    const writer = await openConnectonion(path);
    const added = { input: "and now?", result: "done", model: "m", tools_called: [] };
    const { turn } = await writer.appendTurn({ ...added, duration_ms: 5, tokens: 7, cost: 0 }, [
      { role: "user", content: "and now?" },
      { role: "assistant", content: "done" },
    ]);
    await vi.waitFor(() => expect(ids).toContain(`turn:${turn}`), 50_000);
    expect(session.revision).toBeGreaterThan(generation);
    expect(ids.slice(0, before.length)).toEqual(before);
    expect(new Set(ids).size).toBe(ids.length);
    follow.unsubscribe();
  });

  it("that is replaced is a new generation, as when opened again", async () => {
    const path = documentOf(fixtureText("connectonion-ideal"));
    const session = await opened(path);
    const other = join(temporaryDirectory(), "other.yaml");
    copyFileSync(fixturePath("connectonion-nested.yaml"), other);
    renameSync(other, path);
    await session.refresh();
    expect(await entriesOf(session)).toEqual(await entriesOf(await opened(path)));
  });

  it("that is damaged is an error with its position, is reported by lists, and not moved", async () => {
    const path = documentOf("name: oo\nturns:\n- turn: 1\n  input: 'half\n");
    await expect(openSession(path)).rejects.toMatchObject({ code: "ERR_DOCUMENT_DAMAGED", path });
    const { sessions, unlisted } = await findSessions([join(path, "..")]);
    expect([sessions, unlisted]).toEqual([[], [path]]);
    const dataDir = temporaryDirectory();
    const { removed } = await archiveSessions([join(path, "..")], { dataDir, force: true });
    expect([removed, readdirSync(join(path, ".."))]).toEqual([[], ["agent.yaml"]]);
  });

  it("is not recognised in other files that look like one", async () => {
    const directory = temporaryDirectory();
    const others = {
      "game.yml": "name: game\nturns: 5\n",
      "ci.yaml": "name: ci\nturns:\n  a: 1\n",
    };
    for (const [name, text] of Object.entries(others)) writeFileSync(join(directory, name), text);
    const { sessions, unlisted } = await findSessions([directory]);
    expect([sessions, unlisted]).toEqual([[], []]);
    const dataDir = temporaryDirectory();
    await archiveSessions([directory], { dataDir, force: true });
    expect(readdirSync(directory).toSorted()).toEqual(Object.keys(others).toSorted());
  });

  it("has the same facts in a list as when it is opened", async () => {
    const path = documentOf(fixtureText("connectonion-ideal"));
    const session = await opened(path);
    const { sessions } = await findSessions([join(path, "..")]);
    expect(sessions).toMatchObject([
      {
        path,
        header: session.header,
        name: session.header.id,
        summary: await session.summary,
        usage: await session.usage,
        transcript: { of: "connectonion" },
      },
    ]);
  });

  it("is restored unchanged from the archive", async () => {
    const path = documentOf(fixtureText("connectonion-ideal"));
    const [bytes, dataDir] = [readFileSync(path), temporaryDirectory()];
    const { removed, failures } = await archiveSessions([path], { dataDir, force: true });
    expect([removed.length, failures, readdirSync(join(path, ".."))]).toEqual([1, [], []]);
    await restoreSession(path, { dataDir });
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it("gives the same entries whenever it is read, however long it is", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryData, async (data) => {
        const path = documentOf(textOf(data));
        const first = await openSession(path).catch((error: unknown) => error);
        // Data of the law may be no document at all.
        if (first instanceof BranchlogError) return;
        if (!(typeof first === "object" && first !== null && "entries" in first)) throw first;
        const session = await opened(path);
        const again = await opened(path);
        expect(await entriesOf(again)).toEqual(await entriesOf(session));
      }),
      { numRuns: 15 },
    );
  });
});
