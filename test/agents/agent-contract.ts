/** What holds for the sessions of every agent, on golden files of each. */
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sessionTurns } from "@branchlog/agents/connectonion";
import { forkSession, isBranchlogError, openSession } from "@branchlog/core";
import type { Session, SessionEntry } from "@branchlog/core";
import { entryParts, textOfParts } from "@branchlog/core/entries";
import { agentNamed } from "@branchlog/core/rows";
import { archiveSessions, findSessions, restoreSession, searchSessions } from "@branchlog/library";
import { collected } from "../support/collected.ts";
import type { ListedSession, SearchHit } from "@branchlog/library";
import { importSession, usageStatistics } from "@branchlog/tools";
import { directoryState } from "../support/directory-state.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** A session as its agent keeps it. */
export interface GoldenSession {
  readonly title: string;
  /** Its files, by their places below the directory of the agent; the first is the session's. */
  readonly files: Readonly<Record<string, Buffer>>;
  /** Of the session, if the first file holds others, too. */
  readonly address?: string;
}

export interface AgentUnderTest {
  readonly name: string;
  readonly sessions: readonly GoldenSession[];
}

interface Kept {
  readonly root: string;
  readonly path: string;
}

function kept({ files, address }: GoldenSession): Kept {
  const root = temporaryDirectory();
  const paths = Object.entries(files).map(([place, bytes]) => {
    const path = join(root, place);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    return path;
  });
  return { root, path: address === undefined ? (paths[0] ?? root) : join(root, address) };
}

async function reading<T>(path: string, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await openSession(path, { access: "read", checkpoint: "off" });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

const entriesIn = (session: Session): Promise<SessionEntry[]> => collected(session.entries());

/** The context, but for the usage, which some agents store next to their answers. */
async function saidIn(session: Session): Promise<unknown> {
  const { messages } = await session.context();
  return messages.map((message) => JSON.stringify({ ...message, usage: null }));
}

async function tokensIn(session: Session): Promise<number> {
  return (await session.usage).total.totalTokens;
}

async function listedAt({ root, path }: Kept): Promise<ListedSession> {
  const { sessions } = await findSessions([root], { artifacts: true, catalog: "off" });
  const found = sessions.find((one) => one.path === path);
  if (found === undefined) throw new Error(`${path} is not listed`);
  return found;
}

async function hitsOf(
  { root, path }: Kept,
  query: string,
  options: Parameters<typeof searchSessions>[2] = {},
): Promise<SearchHit[]> {
  const hits: SearchHit[] = [];
  for await (const hit of searchSessions([root], query, options)) {
    if (hit.path === path) hits.push(hit);
  }
  return hits;
}

/** The bytes of all files below a directory, by their names. */
function filesBelow(root: string): Readonly<Record<string, string>> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, "base64")]));
}

/** A text that can be searched for: without what a search reads as more than itself. */
function wordsOf(text: string): string | undefined {
  return /[A-Za-z0-9][\w ,.]{11,60}\w/.exec(text)?.[0];
}

const damages: Readonly<Record<string, (path: string) => void>> = {
  "a line that is no JSON": (path) => appendFileSync(path, "\nnot json\n"),
  "a torn record at the end": (path) => appendFileSync(path, '\n{"type":"user","message":{"con'),
  "NUL bytes at the end": (path) => appendFileSync(path, Buffer.alloc(512)),
  "invalid UTF-8": (path) => appendFileSync(path, Buffer.from([0x0a, 0x7b, 0xff, 0xfe, 0x0a])),
  "blank lines and an unknown record": (path) =>
    appendFileSync(path, '\n\n{"type":"unheard-of"}\n'),
};

/** Suites of one agent. */
export function describeAgent({ name, sessions }: AgentUnderTest): void {
  describe.each(sessions.map((golden) => [golden.title, golden] as const))(
    `a session of ${name}, %s,`,
    (_title, golden) => {
      const [first = ""] = Object.keys(golden.files);
      const { documents, transcripts } = agentNamed(name) ?? {};
      const isDocument = documents?.mayBe(first) === true;
      const isSpread = isDocument && documents.sessionsIn !== undefined && !documents.belongings;
      const isAlone = golden.address === undefined && !isSpread;

      it("is its agent's, in a list and when it is opened", async () => {
        const place = kept(golden);
        const { transcript, dialect } = await listedAt(place);
        expect(transcript?.of ?? dialect).toBe(name);
        await reading(place.path, async (session) => {
          expect(session.transcriptOf ?? session.dialect).toBe(name);
        });
      });

      it("has entries that match the index", async () => {
        const { path } = kept(golden);
        await reading(path, async (session) => {
          const tree = session.tree();
          for (const entry of await entriesIn(session)) {
            const role = entry.type === "message" ? entry.message.role : undefined;
            const node = tree.node(entry.id);
            expect([node?.type, node?.role]).toEqual([entry.type, role]);
          }
        });
      });

      it("has the same entries in a copy and in place", async () => {
        const { path } = kept(golden);
        const target = join(temporaryDirectory(), "copy.jsonl");
        await forkSession(path, { target });
        expect(await reading(target, saidIn)).toEqual(await reading(path, saidIn));
        const isLinear = await reading(path, async (session) => session.tips().length === 1);
        if (isLinear) expect(await reading(target, tokensIn)).toBe(await reading(path, tokensIn));
      });

      it("is imported as it is in place, if another agent writes it", async () => {
        const { path } = kept(golden);
        const target = join(temporaryDirectory(), "imported.jsonl");
        const importing = importSession(path, target);
        if (["pi", "omp"].includes(name)) {
          await expect(importing).rejects.toMatchObject({ code: "ERR_NOT_A_SESSION" });
          return;
        }
        const { kind, lines, imported, skipped } = await importing;
        expect(kind).toBe(name);
        expect(Object.values(skipped).reduce((sum, count) => sum + count, imported)).toBe(lines);
        expect(await reading(target, saidIn)).toEqual(await reading(path, saidIn));
      });

      it("has the same facts in a list and when it is opened", async () => {
        const place = kept(golden);
        const listed = await listedAt(place);
        await reading(place.path, async (session) => {
          expect(listed.header).toEqual(session.header);
          expect(listed.name).toBe(session.name);
          const { messageCount, lastActivityMs } = await session.summary;
          expect(listed.summary.messageCount).toBe(messageCount);
          expect(listed.summary.lastActivityMs).toBe(lastActivityMs);
          expect(listed.usage?.total).toEqual((await session.usage).total);
        });
      });

      it("has the same sums in statistics, in turns and when it is opened", async () => {
        const place = kept(golden);
        const only = await usageStatistics([dirname(place.path)], { only: place.path });
        await reading(place.path, async (session) => {
          const { total } = await session.usage;
          const own = Object.keys(golden.files).length === 1 && golden.address === undefined;
          if (own) expect(only.total).toMatchObject({ ...total, requests: only.total.requests });
          const turns = await sessionTurns(session);
          const isLinear = session.tips().length === 1;
          // What a model asked a subagent is not a turn.
          const isAsked = (await listedAt(place)).transcript?.isSubagent !== true;
          if (own && isLinear && isAsked) expect(turns.length).toBe(only.total.turns);
        });
      });

      it("has every text in one entry, where a search finds it", async () => {
        const place = kept(golden);
        await reading(place.path, async (session) => {
          for (const entry of await entriesIn(session)) {
            const { speaker, parts } = entryParts(entry) ?? { speaker: {}, parts: [] };
            const words = wordsOf(textOfParts(parts, " "));
            if (entry.type !== "message" || words === undefined) continue;
            const found = await hitsOf(place, words, { role: speaker.role });
            expect(found.map(({ entryId }) => entryId)).toContain(entry.id);
            expect(new Set(found.map(({ entryId }) => entryId)).size).toBe(found.length);
          }
        });
      });

      it("is read-only", async () => {
        const place = kept(golden);
        const before = directoryState(place.root);
        await listedAt(place);
        await hitsOf(place, "the");
        await usageStatistics([place.root], { catalog: "read" });
        await reading(place.path, (session) => session.context());
        expect(directoryState(place.root)).toEqual(before);
      });

      it.each(Object.entries(isDocument ? {} : damages))(
        "keeps its valid entries after %s",
        async (_damage, harm) => {
          const place = kept(golden);
          const good = await reading(place.path, entriesIn);
          harm(place.path);
          const found = await reading(place.path, entriesIn);
          const ids = new Set(found.map(({ id }) => id));
          expect(good.filter(({ id }) => !ids.has(id))).toEqual([]);
          expect((await listedAt(place)).summary.messageCount).toBeGreaterThan(0);
        },
      );

      // What holds several sessions is changed in tests of its agent.
      if (!isAlone) return;

      it("counts once when it has a copy", async () => {
        const place = kept(golden);
        const once = await usageStatistics([place.root]);
        copyFileSync(place.path, place.path.replace(/(\.\w+)$/, "-copy$1"));
        const { total } = await usageStatistics([place.root]);
        // Turns of agents with documents alone have no ids that tell a copy.
        if (!isDocument || transcripts !== undefined) expect(total).toEqual(once.total);
      });

      it("reaches the same state when followed and when opened again", async () => {
        const place = kept(golden);
        const bytes = readFileSync(place.path);
        const places = [0.4, 0.6, 0.8].map((part) => Math.floor(bytes.length * part));
        let session: Session | undefined;
        for (const end of [...places, bytes.length]) {
          writeFileSync(place.path, bytes.subarray(0, end));
          try {
            session ??= await openSession(place.path, { access: "read", checkpoint: "off" });
            await session.refresh();
          } catch (error) {
            // A part of a document may be none.
            if (!isBranchlogError(error)) throw error;
          }
        }
        if (session === undefined) throw new Error("no part of it could be opened");
        expect(await entriesIn(session)).toEqual(await reading(place.path, entriesIn));
        await session.close();
      });

      it("is restored from the archive with all its files", async () => {
        const place = kept(golden);
        const dataDir = temporaryDirectory();
        const before = filesBelow(place.root);
        const { failures, removed } = await archiveSessions([place.path], { dataDir, force: true });
        expect([failures, removed.length]).toEqual([[], 1]);
        expect(filesBelow(place.root)).toEqual({});
        await restoreSession(place.path, { dataDir });
        expect(filesBelow(place.root)).toEqual(before);
      });
    },
  );
}
