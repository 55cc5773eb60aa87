/** What is saved of a directory of sessions: it spares reading, and never changes what is found. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { deleteSession, findSessions } from "@branchlog/library";
import { readCounter } from "@branchlog/streaming";
import { checkpointKind } from "@branchlog/core/files";
import { agentNamed, registerAgents } from "@branchlog/core/rows";
import type { CatalogMode } from "../../../packages/library/src/catalog/catalog-store.ts";
import { DirectoryCatalog } from "../../../packages/library/src/catalog/directory-catalog.ts";
import { sessionFilesIn } from "../../../packages/library/src/catalog/session-files.ts";
import {
  bytesReadBy,
  catalogPath,
  large,
  linesIn,
  list,
  namesIn,
  savedDirectory,
  withLines,
} from "./saved-directory.ts";
import { directoryState } from "../../support/directory-state.ts";
import { fixturePath } from "../../tools/import/imported.ts";
import { sampled } from "../../support/sampled.ts";
import { header, jsonl, name, user, writeLines } from "./session-lines.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

function ownCache(): string {
  const cache = join(temporaryDirectory(), "cache");
  vi.stubEnv("BRANCHLOG_CACHE_DIR", cache);
  onTestFinished(() => void vi.unstubAllEnvs());
  return cache;
}

describe("the saved catalog of a directory with transcripts", () => {
  const goldens = ["claude/sidechains.jsonl", "codex/conversation.jsonl"];

  /** Copies of golden files that together are worth a catalog. */
  function transcripts(): string {
    const directory = temporaryDirectory();
    for (const golden of goldens) {
      for (let at = 0; at < 5; at += 1) {
        const path = join(directory, `${golden.replace("/", "-")}-${at}.jsonl`);
        copyFileSync(fixturePath(golden), path);
      }
    }
    return directory;
  }

  it("is saved when only the cache is writable, like one of other sessions", async () => {
    ownCache();
    const [directory, other] = [transcripts(), temporaryDirectory()];
    writeLines(other, "large.jsonl", [header({ id: "large" }), user("one"), large]);
    const before = [directoryState(directory), directoryState(other)];
    for (const one of [directory, other]) await list(one, { saved: "cache" });
    expect([directoryState(directory), directoryState(other)]).toEqual(before);
    expect(await bytesReadBy(() => list(other, { saved: "cache" }))).toBe(0);
    appendFileSync(join(other, "large.jsonl"), jsonl([large]));
    await list(other);
    expect(readdirSync(other)).toContain(basename(catalogPath(other)));
  });

  it("is in the cache of the user, and avoids reading them", async () => {
    const cache = ownCache();
    const directory = transcripts();
    const before = directoryState(directory);
    const read = await list(directory, { saved: "off" });
    expect(await list(directory)).toEqual(read);
    expect(directoryState(directory)).toEqual(before);
    const [saved = "", ...others] = readdirSync(join(cache, "catalogs"));
    expect(others).toEqual([]);
    expect(statSync(join(cache, "catalogs", saved)).mode & 0o777).toBe(0o600);
    expect(read.map(({ transcript }) => transcript?.of)).toContain("codex");
    expect(await bytesReadBy(() => list(directory))).toBe(0);
    expect(await list(directory)).toEqual(read);
  });

  it("drops one whose directory is missing after all directories were listed", async () => {
    const cache = ownCache();
    const home = temporaryDirectory();
    vi.stubEnv("HOME", home);
    const project = (at: number): string => join(home, ".claude", "projects", `-home-dev-${at}`);
    const secret = "a prompt that is to be forgotten";
    const long = "x".repeat(100_000);
    for (let at = 0; at < 3; at += 1) {
      mkdirSync(project(at), { recursive: true });
      const session = { sessionId: `s${at}`, timestamp: "2026-01-05T09:00:00.000Z", cwd: "/w" };
      const said = { type: "user", uuid: `u${at}`, parentUuid: null, ...session };
      const more = { ...said, uuid: `v${at}`, parentUuid: `u${at}` };
      writeLines(project(at), `s${at}.jsonl`, [
        { ...said, message: { role: "user", content: `${secret} ${at}` } },
        { ...more, message: { role: "user", content: long } },
      ]);
    }
    const savedTexts = (): string => {
      const names = readdirSync(join(cache, "catalogs"));
      return names.map((one) => readFileSync(join(cache, "catalogs", one), "utf8")).join("");
    };
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect((await findSessions()).sessions).toHaveLength(3);
    expect(savedTexts()).toContain(`${secret} 1`);
    for (const at of [0, 1]) rmSync(project(at), { recursive: true });
    expect((await findSessions()).sessions).toHaveLength(1);
    expect(savedTexts()).not.toContain(`${secret} 0`);
    expect(savedTexts()).not.toContain(`${secret} 1`);
    expect(savedTexts()).toContain(`${secret} 2`);
    rmSync(project(2), { recursive: true });
    expect((await findSessions()).sessions).toEqual([]);
    expect(savedTexts()).not.toContain(secret);
  });

  it("ignores one that changed, was removed, or whose agent has another reader version", async () => {
    ownCache();
    const directory = transcripts();
    await list(directory);
    const [changed = ""] = readdirSync(directory).filter((one) => one.startsWith("claude"));
    const title = { type: "custom-title", customTitle: "Renamed", sessionId: "s" };
    appendFileSync(join(directory, changed), `${JSON.stringify(title)}\n`);
    const renamed = (await list(directory)).find(({ path }) => path.endsWith(changed));
    expect(renamed?.name).toBe("Renamed");
    expect(await list(directory)).toEqual(await list(directory, { saved: "off" }));

    const { transcripts: format, ...agent } = agentNamed("claude") ?? unknownAgent();
    const read = format ?? unknownAgent();
    registerAgents([{ ...agent, transcripts: { ...read, version: read.version + 1 } }]);
    onTestFinished(() => void registerAgents([{ ...agent, transcripts: read }]));
    expect(await bytesReadBy(() => list(directory))).toBeGreaterThan(0);
    rmSync(join(directory, changed));
    expect(await list(directory)).toHaveLength(9);
  });

  it("replaces one next to them, from before the first transcript", async () => {
    const cache = ownCache();
    const directory = await savedDirectory(temporaryDirectory());
    expect(existsSync(catalogPath(directory))).toBe(true);
    for (let at = 0; at < 5; at += 1) {
      copyFileSync(fixturePath("claude/sidechains.jsonl"), join(directory, `${at}.jsonl`));
    }
    await list(directory);
    expect(existsSync(catalogPath(directory))).toBe(false);
    expect(readdirSync(join(cache, "catalogs"))).toHaveLength(1);
    expect(await bytesReadBy(() => list(directory))).toBe(0);
    expect(await list(directory)).toEqual(await list(directory, { saved: "off" }));
  });

  it("is not saved when others can read or replace it", async () => {
    const cache = ownCache();
    const catalogs = join(cache, "catalogs");
    mkdirSync(catalogs, { recursive: true });
    const old = join(catalogs, "letter.txt");
    writeFileSync(old, "of the user");
    utimesSync(old, 0, 0);
    chmodSync(catalogs, 0o777);
    const directory = transcripts();
    await list(directory);
    expect(readdirSync(catalogs)).toEqual(["letter.txt"]);
    chmodSync(catalogs, 0o700);
    await list(directory);
    // What is old and not of the cache stays.
    expect(readdirSync(catalogs)).toHaveLength(2);
    expect(existsSync(old)).toBe(true);
  });

  const idOf = (at: number): string => `019b7600-0000-7000-8000-00000000000${at}`;

  it("keeps the name of the file when the agent's index has another one that it then loses", async () => {
    ownCache();
    const directory = temporaryDirectory();
    const sessions = join(directory, "sessions");
    mkdirSync(sessions);
    for (let at = 0; at < 8; at += 1) {
      const path = join(sessions, `rollout-2026-01-0${at + 1}T00-00-00-${idOf(at)}.jsonl`);
      copyFileSync(fixturePath("codex/conversation.jsonl"), path);
    }
    const index = join(directory, "session_index.jsonl");
    const id = idOf(0);
    const named = { id, thread_name: "In the index", updated_at: "2026-01-01T00:00:00Z" };
    writeFileSync(index, `${JSON.stringify(named)}\n`);
    expect((await list(sessions)).map((one) => one.name)).toContain("In the index");
    expect(await list(sessions)).toEqual(await list(sessions, { saved: "off" }));
    rmSync(index);
    expect(await list(sessions)).toEqual(await list(sessions, { saved: "off" }));
    expect((await list(sessions)).map((one) => one.name)).not.toContain("In the index");
  });
});

function unknownAgent(): never {
  throw new Error("no such agent");
}

describe("the saved catalog of a directory", () => {
  it("avoids reading the files in any later process", async () => {
    const directory = await savedDirectory(temporaryDirectory());
    const read = await bytesReadBy(async () => {
      expect(await list(directory)).toEqual(await list(directory, { saved: "off" }));
    });
    expect(read).toBeLessThan(2_300_000);
    expect(await bytesReadBy(() => list(directory))).toBe(0);
    expect(statSync(catalogPath(directory)).mode & 0o777).toBe(0o600);
  });

  it("is shared by directories too small for a catalog of their own, and forgets removed sessions", async () => {
    const cache = ownCache();
    const root = temporaryDirectory();
    for (let at = 0; at < 400; at += 1) {
      mkdirSync(join(root, `${at}`));
      writeLines(join(root, `${at}`), "s.jsonl", [header({ id: `s${at}` }), user(`prompt ${at}`)]);
    }
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    const { sessions } = await findSessions([root], { catalog: "off" });
    expect((await findSessions([root])).sessions).toEqual(sessions);
    const before = readCounter.bytes;
    expect((await findSessions([root])).sessions).toEqual(sessions);
    expect(readCounter.bytes - before).toBe(0);
    expect(readdirSync(join(root, "7"))).toEqual(["s.jsonl"]);

    const savedTexts = (): string =>
      readdirSync(join(cache, "catalogs"))
        .map((one) => readFileSync(join(cache, "catalogs", one), "utf8"))
        .join("");
    expect(savedTexts()).toContain("prompt 7");
    rmSync(join(root, "7", "s.jsonl"));
    expect((await findSessions([root])).sessions).toHaveLength(399);
    expect(savedTexts()).toContain("prompt 70");
    expect(savedTexts()).not.toContain('prompt 7"');
  });

  it("loses no session whose facts are read again, since a file next to it changed", async () => {
    ownCache();
    const project = join(temporaryDirectory(), "project");
    const directory = join(project, "agent-transcripts");
    mkdirSync(directory, { recursive: true });
    for (let at = 0; at < 8; at += 1) {
      // Each is listed before those that are read before it.
      const text = `<timestamp>Wednesday, Jul ${10 + at}, 2026, 1:11 PM (UTC)</timestamp>Hello`;
      const record = { role: "user", message: { content: [{ type: "text", text }] } };
      writeLines(directory, `5a1b2c3d-0000-4000-8000-00000000000${at}.jsonl`, [record]);
    }
    const before = await list(directory);
    expect(before).toHaveLength(8);
    const trusted = JSON.stringify({ workspacePath: "/home/dev/shop" });
    writeFileSync(join(project, ".workspace-trusted"), trusted);
    const after = await list(directory);
    const moved = before.map((one) => ({
      ...one,
      header: { ...one.header, cwd: "/home/dev/shop" },
    }));
    expect(after).toEqual(moved);
  });

  it("keeps nothing of a session that was deleted for good, after its directory grew", async () => {
    const cache = ownCache();
    const directory = temporaryDirectory();
    const text = "x".repeat(30_000);
    const write = (id: string, first: string): string =>
      writeLines(directory, `${id}.jsonl`, [header({ id }), user(first), user(text)]);
    const secret = write("secret", "to be forgotten");
    for (let at = 0; at < 4; at += 1) write(`${at}`, "of no interest");
    await list(directory);
    const saved = (): string => {
      const names = readdirSync(join(cache, "catalogs"));
      const texts = names.map((one) => readFileSync(join(cache, "catalogs", one), "utf8"));
      return [
        ...texts,
        existsSync(catalogPath(directory)) ? readFileSync(catalogPath(directory), "utf8") : "",
      ].join();
    };
    expect(saved()).toContain("to be forgotten");
    writeLines(directory, "large.jsonl", [header({ id: "large" }), large]);
    await list(directory);
    expect(existsSync(catalogPath(directory))).toBe(true);
    await deleteSession(secret, { permanent: true, dataDir: temporaryDirectory() });
    expect(saved()).not.toContain("to be forgotten");
  });

  it("is the same for each spelling of its path", async () => {
    ownCache();
    const directory = await savedDirectory(temporaryDirectory());
    const expected = await list(directory);
    for (const spelled of [`${directory}//`, `${directory}/./`]) {
      expect(await bytesReadBy(() => list(spelled))).toBe(0);
      expect(await list(spelled)).toEqual(expected);
    }
  });

  it("is not next to sessions of another agent, even if none of those can be saved", async () => {
    ownCache();
    const directory = temporaryDirectory();
    writeLines(directory, "large.jsonl", [header({ id: "large" }), large]);
    const transcript = join(directory, "claude.jsonl");
    copyFileSync(fixturePath("claude/sidechains.jsonl"), transcript);
    // Changed a moment ago, as far as the list knows.
    const catalog = new DirectoryCatalog({
      list: (signal) => sessionFilesIn(directory, signal),
      saved: "auto",
      now: () => statSync(transcript).ctimeMs,
    });
    await catalog.refresh({ paths: null, signal: undefined });
    expect(catalog.sessions()).toHaveLength(2);
    expect(readdirSync(directory).toSorted()).toEqual(["claude.jsonl", "large.jsonl"]);
  });

  it("lists a session again whose read was aborted after its saved facts were loaded", async () => {
    ownCache();
    const project = join(temporaryDirectory(), "project");
    const directory = join(project, "agent-transcripts");
    mkdirSync(directory, { recursive: true });
    for (let at = 0; at < 8; at += 1) {
      const path = join(directory, `5a1b2c3d-0000-4000-8000-00000000000${at}.jsonl`);
      copyFileSync(fixturePath("cursor/transcript-2026-07.jsonl"), path);
    }
    const before = await list(directory);
    // Its contents say nothing, so that the facts are those that were saved.
    writeFileSync(join(project, ".workspace-trusted"), "{}");
    const catalog = new DirectoryCatalog({
      list: (signal) => sessionFilesIn(directory, signal),
      saved: "auto",
      now: () => Date.now() + 60_000,
    });
    const stop = new AbortController();
    let files = 0;
    const onFile = (): void => {
      files += 1;
      if (files === 2) stop.abort(new Error("enough"));
    };
    const aborted = catalog.refresh({ paths: null, onFile, signal: stop.signal });
    await expect(aborted).rejects.toThrow("enough");
    await catalog.refresh({ paths: null, signal: undefined });
    expect(catalog.sessions()).toEqual(before);
  });

  it("does not recreate a removed directory", async () => {
    const directory = join(temporaryDirectory(), "project");
    mkdirSync(directory);
    await savedDirectory(directory);
    const catalog = new DirectoryCatalog({
      list: (signal) => sessionFilesIn(directory, signal),
      saved: "auto",
      now: () => Date.now() + 60_000,
    });
    await catalog.refresh({ paths: null, signal: undefined });
    expect(catalog.sessions()).toHaveLength(3);
    rmSync(directory, { recursive: true });
    await catalog.refresh({ paths: null, signal: undefined });
    expect(catalog.sessions()).toEqual([]);
    expect(existsSync(directory)).toBe(false);
  });

  it("lets a grown file be read from its previous end", async () => {
    const directory = await savedDirectory(temporaryDirectory());
    const line = jsonl([user("three"), name("New")]);
    appendFileSync(join(directory, "large.jsonl"), line);
    const read = await bytesReadBy(async () => {
      const grown = (await list(directory)).find(({ header: { id } }) => id === "large");
      expect(grown).toMatchObject({ name: "New", summary: { messageCount: 3 } });
    });
    expect(read).toBeLessThan(line.length + 1000);
    expect(await list(directory)).toEqual(await list(directory, { saved: "off" }));
  });

  it("is written only when reading the new data again would be slow", async () => {
    const directory = temporaryDirectory();
    writeLines(directory, "small.jsonl", [header(), user("one")]);
    await list(directory);
    expect(existsSync(catalogPath(directory))).toBe(false);

    const saved = await savedDirectory(temporaryDirectory());
    const before = readFileSync(catalogPath(saved));
    appendFileSync(join(saved, "small.jsonl"), jsonl([user("three")]));
    await list(saved);
    expect(readFileSync(catalogPath(saved)).equals(before)).toBe(true);
  });

  it.runIf(process.getuid?.() === 0)(
    "is never written to a directory of another user, and nothing is removed there",
    async () => {
      const directory = temporaryDirectory();
      const cache = ownCache();
      const checkpoint = Buffer.from(checkpointKind.mark);
      writeFileSync(join(directory, "gone.jsonl.ckpt"), checkpoint);
      chownSync(directory, 65_534, 65_534);
      await savedDirectory(directory);
      const { sessions } = await findSessions([directory]);
      expect(sessions).toHaveLength(3);
      const others = ["empty.jsonl", "gone.jsonl.ckpt", "large.jsonl", "other.jsonl"];
      expect(readdirSync(directory).toSorted()).toEqual([...others, "small.jsonl"]);

      expect(await bytesReadBy(() => list(directory))).toBe(0);
      expect(readdirSync(join(cache, "catalogs"))).toHaveLength(1);

      // A file that exists already counts as it does anywhere.
      rmSync(cache, { recursive: true });
      chownSync(directory, 0, 0);
      await list(directory);
      const saved = readFileSync(catalogPath(directory));
      chownSync(directory, 65_534, 65_534);
      expect(await bytesReadBy(() => list(directory))).toBe(0);
      rmSync(join(directory, "small.jsonl"));
      expect(await list(directory)).toHaveLength(2);
      expect(readFileSync(catalogPath(directory)).equals(saved)).toBe(true);
    },
  );

  it("is delayed longer the larger it is", async () => {
    const directory = temporaryDirectory();
    const text = "x".repeat(20_000);
    for (let at = 0; at < 90; at += 1) writeLines(directory, `${at}.jsonl`, [header(), user(text)]);
    const path = writeLines(directory, "busy.jsonl", [header(), large]);
    await list(directory);
    const before = readFileSync(catalogPath(directory));
    expect(before.length).toBeGreaterThan(1_500_000);
    appendFileSync(path, jsonl([large]));
    await list(directory);
    expect(readFileSync(catalogPath(directory)).equals(before)).toBe(true);
    appendFileSync(path, jsonl([large]));
    await list(directory);
    expect(readFileSync(catalogPath(directory)).equals(before)).toBe(false);
    expect(await list(directory)).toEqual(await list(directory, { saved: "off" }));
  });

  it("drops missing files", async () => {
    const directory = await savedDirectory(temporaryDirectory());
    expect(readFileSync(catalogPath(directory), "utf8")).toContain("two");
    rmSync(join(directory, "small.jsonl"));
    await list(directory);
    const saved = readFileSync(catalogPath(directory), "utf8");
    expect(saved).toContain("large.jsonl");
    expect(saved).not.toContain("two");
  });

  it("is not written, or not read, with the corresponding option", async () => {
    const directory = await savedDirectory(temporaryDirectory());
    expect(await bytesReadBy(() => list(directory, { saved: "read" }))).toBe(0);
    expect(await bytesReadBy(() => list(directory, { saved: "off" }))).toBeGreaterThan(1_000_000);
    rmSync(catalogPath(directory));
    await list(directory, { saved: "read" });
    await list(directory, { saved: "off" });
    expect(existsSync(catalogPath(directory))).toBe(false);
  });

  it("keeps results read before a caller aborted", async () => {
    const directory = temporaryDirectory();
    for (const file of ["a", "b", "c"]) writeLines(directory, `${file}.jsonl`, [header(), large]);
    const stop = new AbortController();
    const reason = new Error("enough");
    const given = list(directory, { signal: stop.signal, onRefreshed: () => stop.abort(reason) });
    await expect(given).rejects.toBe(reason);
    expect(existsSync(catalogPath(directory))).toBe(true);
    expect(await list(directory)).toEqual(await list(directory, { saved: "off" }));
  });
});

describe("whatever happens to the saved catalog", () => {
  it("the sessions are the same: damaged in any byte, cut anywhere (Verifies: P21)", async () => {
    const directory = await savedDirectory(temporaryDirectory());
    const whole = readFileSync(catalogPath(directory));
    const expected = await list(directory, { saved: "off" });
    expect(namesIn(whole)).toHaveLength(4);
    const linesEnd = 16 + Buffer.byteLength(linesIn(whole).join("\n")) + 1;
    for (const [n, at] of sampled(0, whole.length, 102).entries()) {
      const damaged = Buffer.from(whole);
      damaged[at] = (whole[at] ?? 0) ^ (1 << (at % 8));
      const bytes = n % 2 === 0 ? damaged : whole.subarray(0, at);
      // One page has all lines: without it, no file is known.
      const isPage = n % 2 === 0 && at >= 16 && at < linesEnd;
      expect([at, namesIn(bytes)]).toEqual([at, isPage ? [] : undefined]);
      if (n % 100 > 1) continue;
      writeFileSync(catalogPath(directory), bytes);
      const read = await bytesReadBy(async () => {
        expect(await list(directory, { saved: "read" })).toEqual(expected);
      });
      expect(read).toBeGreaterThan(1_000_000);
    }
  });

  it("a damaged page only affects the files in it (Verifies: P21)", async () => {
    const directory = await savedDirectory(temporaryDirectory());
    const whole = readFileSync(catalogPath(directory));
    // The longest line: whichever comes first, they take more than a page.
    const [known = ""] = linesIn(whole).toSorted((one, other) => other.length - one.length);
    const fields = JSON.parse(known) as { readonly name: string };
    const many = Array.from({ length: 400 }, (_, n) => ({ ...fields, name: `${n}.jsonl` }));
    const bytes = withLines(
      whole,
      many.map((line) => JSON.stringify(line)),
    );
    const all = namesIn(bytes) ?? [];
    expect(all).toHaveLength(400);
    bytes[16 + 64 * 1024 + 5] = 0;
    const left = namesIn(bytes) ?? [];
    expect(left.length).toBeGreaterThan(200);
    expect(left.length).toBeLessThan(400);
    expect(all).toEqual(expect.arrayContaining([...left]));
  });

  it("the sessions are the same if it cannot be read or written", async () => {
    const directory = await savedDirectory(temporaryDirectory());
    const expected = await list(directory, { saved: "off" });
    rmSync(catalogPath(directory));
    // A directory has its name: it can be neither read as a file nor replaced by one.
    mkdirSync(join(catalogPath(directory), "x"), { recursive: true });
    expect(await list(directory)).toEqual(expected);
    expect(readdirSync(directory).filter((file) => file.endsWith(".tmp"))).toEqual([]);
  });

  it("a pipe with its name does not block", async () => {
    const directory = await savedDirectory(temporaryDirectory());
    const expected = await list(directory, { saved: "off" });
    rmSync(catalogPath(directory));
    execFileSync("/usr/bin/env", ["mkfifo", catalogPath(directory)]);
    expect(await list(directory, { saved: "read" })).toEqual(expected);
  });

  it("sessions that begin with a very long text are read again instead", async () => {
    const directory = temporaryDirectory();
    const text = "x".repeat(1_000_000);
    for (const file of ["a", "b"]) writeLines(directory, `${file}.jsonl`, [header(), user(text)]);
    writeLines(directory, "c.jsonl", [header(), user("short")]);
    await list(directory);
    expect(statSync(catalogPath(directory)).size).toBeLessThan(2_000);
    expect(await list(directory)).toEqual(await list(directory, { saved: "off" }));
  });

  it("the sessions are the same when it was saved for other files with the same names", async () => {
    const [one, other] = [
      await savedDirectory(temporaryDirectory()),
      await savedDirectory(temporaryDirectory()),
    ];
    writeLines(other, "small.jsonl", [header({ id: "another" }), user("else")]);
    renameSync(catalogPath(one), catalogPath(other));
    expect(await list(other)).toEqual(await list(other, { saved: "off" }));
  });

  it("headers that do not survive JSON are read again", async () => {
    const directory = temporaryDirectory();
    const odd = '{"type":"session","version":3,"id":"s","timestamp":1e400,"cwd":-0}';
    writeLines(directory, "odd.jsonl", [odd, large]);
    writeLines(directory, "deep.jsonl", [
      `{"type":"session","id":"d","x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
      user("deep"),
    ]);
    const facts = async (saved: CatalogMode): Promise<unknown> =>
      (await list(directory, { saved })).map((session) => ({
        ...session,
        // Too deep to be compared.
        header: session.header.id === "d" ? "deep" : session.header,
      }));
    const expected = await facts("off");
    await list(directory);
    expect(await facts("auto")).toEqual(expected);
    expect(expected).toHaveLength(2);
  });
});

/** What any program may do to a file; `n` makes it different each time. */
const edits: readonly ((path: string, n: number) => void)[] = [
  (path, n) => appendFileSync(path, jsonl([user(`text ${n}`)])),
  (path, n) => appendFileSync(path, jsonl([user(`text ${n}`)]).slice(0, n % 90)),
  (path) => appendFileSync(path, "\n"),
  (path) => appendFileSync(path, jsonl([large])),
  (path, n) => appendFileSync(path, jsonl([name(`name ${n}`)])),
  (path, n) => writeFileSync(path, jsonl([header({ id: `new ${n}` }), user("anew")])),
  (path, n) => inPlace(path, (text) => text.replaceAll("text", `t${n % 7}xt`)),
  (path, n) => truncateSync(path, Math.max(0, statSync(path).size - (n % 40))),
  (path, n) => utimesSync(path, n, n),
  (path) => chmodSync(path, 0o640),
  (path) => rmSync(path),
];

/** Rewrites a file, and again until its times tell of it. */
function inPlace(path: string, change: (text: string) => string): void {
  const before = statSync(path).ctimeMs;
  const text = change(readFileSync(path, "utf8"));
  do writeFileSync(path, text);
  while (statSync(path).ctimeMs === before);
}

describe("a file read again", () => {
  const unfinished = [
    ["a header without its newline", jsonl([header({ id: "first" })]).trimEnd(), " junk\n"],
    ["another record without its newline", '{"type":"x"}', " junk\n"],
    ["half a header", '{"type":"session",', '"id":"whole"}\n'],
  ] as const;

  it.each(unfinished)("equals a fresh read when it ended in %s", async (_, part, rest) => {
    const directory = temporaryDirectory();
    const path = join(directory, "s.jsonl");
    writeFileSync(path, part);
    const catalog = new DirectoryCatalog({
      list: (signal) => sessionFilesIn(directory, signal),
      saved: "off",
      now: () => Date.now() + 60_000,
    });
    await catalog.refresh({ paths: null, signal: undefined });
    appendFileSync(path, `${rest}${jsonl([header({ id: "later" }), user("x")])}`);
    await catalog.refresh({ paths: null, signal: undefined });
    expect(catalog.sessions()).toEqual(await list(directory, { saved: "off" }));
    expect(catalog.sessions()).toHaveLength(1);
  });
});

it(
  "a catalog with saved lines gives the same as one without (Verifies: P21)",
  { timeout: 120_000 },
  async () => {
    const step = fc.tuple(fc.nat(edits.length - 1), fc.nat(2), fc.nat(1000), fc.boolean());
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const directory = temporaryDirectory();
        writeLines(directory, "0.jsonl", [header(), large]);
        await list(directory);
        for (const [edit, file, n, isListed] of steps) {
          const path = join(directory, `${file}.jsonl`);
          appendFileSync(path, "");
          edits[edit]?.(path, n);
          if (isListed) await list(directory);
        }
        expect(await list(directory)).toEqual(await list(directory, { saved: "off" }));
      }),
      { numRuns: 60 },
    );
  },
);
