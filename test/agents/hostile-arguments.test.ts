/** Paths and ids that no file system takes: every way in refuses them with an error of ours. */
import { readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as omp from "@branchlog/agents/omp";
import * as pi from "@branchlog/agents/pi";
import { createSession, forkSession, isBranchlogError, openSession } from "@branchlog/core";
import { findSessions, resolveSession, searchSessions, deleteSession } from "@branchlog/library";
import { sessions$ } from "@branchlog/library/live";
import type { LiveSessions, LiveSessionsOptions } from "@branchlog/library/live";
import {
  migrateSession,
  planRepair,
  convertSession,
  exportLinear,
  exportMarkdown,
  importSession,
} from "@branchlog/tools";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { rejection } from "../support/typed-errors.ts";

/** A session, and a directory that holds nothing else but what tests make. */
interface Place {
  readonly directory: string;
  readonly session: string;
  /** A path that is free. */
  readonly free: () => string;
}

let place: Place;

beforeEach(async () => {
  // An empty directory means that of the agent.
  vi.stubEnv("PI_CODING_AGENT_DIR", temporaryDirectory());
  const directory = temporaryDirectory();
  const session = join(directory, "session.jsonl");
  await (await createSession(session)).close();
  symlinkSync(join(directory, "circle"), join(directory, "circle"));
  writeFileSync(join(directory, "file"), "no session");
  let count = 0;
  place = { directory, session, free: () => join(directory, `free-${(count += 1)}.jsonl`) };
});

afterEach(() => {
  vi.unstubAllEnvs();
});

// For the core, a URL is a relative path like any other.
afterAll(() => {
  rmSync("file:", { recursive: true, force: true });
});

const paths: Readonly<Record<string, (directory: string) => string>> = {
  "with a name of 300 characters": (directory) => join(directory, `${"n".repeat(300)}.jsonl`),
  "with a null character": (directory) => join(directory, "a\0b.jsonl"),
  "that is a symbolic link to itself": (directory) => join(directory, "circle"),
  "below a symbolic link to itself": (directory) => join(directory, "circle", "s.jsonl"),
  "below a file": (directory) => join(directory, "file", "s.jsonl"),
  "of 6,000 characters": () => `/${"d/".repeat(3_000)}s.jsonl`,
  "that is a URL of another machine": () => "file://host/s.jsonl",
  "that is a character device": () => "/dev/null",
  "that is empty": () => "",
};

const answer = { role: "assistant", content: [], timestamp: 1 } as unknown as Parameters<
  pi.SessionManager["appendMessage"]
>[0];

type Way = (path: string) => unknown;

/** What goes wrong with a list that is kept up to date is in its status. */
async function listed(path: string, options: LiveSessionsOptions): Promise<void> {
  let end = (): void => {};
  const { status } = await new Promise<LiveSessions>((resolve) => {
    const subscription = sessions$(path, options).subscribe(resolve);
    end = () => subscription.unsubscribe();
  });
  end();
  if (status.kind === "stalled") throw status.error;
}

async function drained(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items) continue;
}

const functions: Readonly<Record<string, Way>> = {
  searchSessions: (path) => drained(searchSessions(path, "x")),
  findSessions: (path) => findSessions([path]),
  "findSessions, with artifacts": (path) => findSessions([path], { artifacts: true }),
  resolveSession: (path) => resolveSession("x", [path]),
  sessions$: (path) => listed(path, {}),
  "sessions$, below": (path) => listed(path, { subdirectories: true }),
  openSession: (path) => openSession(path),
  createSession: (path) => createSession(path),
  "forkSession, source": (path) => forkSession(path),
  "forkSession, target": (path) => forkSession(place.session, { target: path }),
  migrateSession: (path) => migrateSession(path),
  "convertSession, source": (path) => convertSession(path, { to: "omp", target: place.free() }),
  "convertSession, target": (path) => convertSession(place.session, { to: "omp", target: path }),
  planRepair: (path) => planRepair(path),
  "exportMarkdown, source": (path) => exportMarkdown(path, place.free()),
  "exportMarkdown, target": (path) => exportMarkdown(place.session, path),
  "exportLinear, source": (path) => exportLinear(path, place.free()),
  "exportLinear, target": (path) => exportLinear(place.session, path),
  "importSession, source": (path) => importSession(path, place.free()),
  "importSession, target": (path) => importSession(place.session, path),
  deleteSession: (path) => deleteSession(path),
};

function waysOf({ SessionManager }: Pick<typeof pi, "SessionManager">): Record<string, Way> {
  return {
    open: (path) => SessionManager.open(path),
    "open, directory": (path) => SessionManager.open(place.session, path),
    "create, directory": (path) => SessionManager.create("/w", path).appendMessage(answer),
    continueRecent: (path) => SessionManager.continueRecent("/w", path),
    "forkFrom, source": (path) => SessionManager.forkFrom(path, "/w", place.directory),
    "forkFrom, directory": (path) => SessionManager.forkFrom(place.session, "/w", path),
    list: (path) => SessionManager.list("/w", path),
    "list, working directory": (path) => SessionManager.list(path),
    setSessionFile: (path) => SessionManager.create("/w", place.directory).setSessionFile(path),
  };
}

const piWays: Readonly<Record<string, Way>> = {
  ...waysOf(pi),
  loadEntriesFromFile: (path) => pi.loadEntriesFromFile(path),
  findMostRecentSession: (path) => pi.findMostRecentSession(path),
  listAll: (path) => pi.SessionManager.listAll(path),
};

const ompWays: Readonly<Record<string, Way>> = {
  open: (path) => omp.SessionManager.open(path),
  create: (path) => omp.SessionManager.create("/w", path),
  continueRecent: (path) => omp.SessionManager.continueRecent("/w", path),
  list: (path) => omp.SessionManager.list("/w", path),
  findMostRecentSession: (path) => omp.findMostRecentSession(path),
};

describe.each([
  ["the functions of the core", functions],
  ["the drop-in for pi", piWays],
  ["the drop-in for omp", ompWays],
])("%s", (_name, ways) => {
  it.each(Object.keys(ways))(
    "%s accepts each hostile path, or rejects it with a code",
    async (way) => {
      for (const [kind, pathIn] of Object.entries(paths)) {
        const before = readdirSync(place.directory);
        const error = await rejection((async () => ways[way]?.(pathIn(place.directory)))());
        expect(error === undefined || isBranchlogError(error), `${kind}: ${String(error)}`).toBe(
          true,
        );
        if (error !== undefined) expect(readdirSync(place.directory), kind).toEqual(before);
      }
    },
  );
});

describe("a session id that is too long for the name of a file", () => {
  const id = "i".repeat(300);
  const refusal = { code: "ERR_INVALID_SESSION_ID" };

  it("is rejected before anything is created", async () => {
    const before = readdirSync(place.directory);
    const manager = pi.SessionManager.create("/w", place.directory);
    expect(() => pi.SessionManager.create("/w", place.directory, { id })).toThrow(
      expect.objectContaining(refusal),
    );
    expect(() => manager.newSession({ id })).toThrow(expect.objectContaining(refusal));
    await expect(forkSession(place.session, { id })).rejects.toMatchObject(refusal);
    expect(readdirSync(place.directory)).toEqual(before);
  });

  it("is accepted when the file has another name", async () => {
    const session = await createSession(place.free(), { id });
    expect(session.header.id).toBe(id);
    await session.close();
  });

  it("can have 224 characters when the file is named after it", () => {
    const manager = pi.SessionManager.create("/w", place.directory, { id: "i".repeat(224) });
    manager.appendMessage(answer);
    expect(readdirSync(place.directory)).toContainEqual(expect.stringContaining("i".repeat(224)));
    expect(() => pi.SessionManager.create("/w", place.directory, { id: "i".repeat(225) })).toThrow(
      expect.objectContaining(refusal),
    );
  });
});
