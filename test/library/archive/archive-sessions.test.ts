/** Sessions go into the archive whole, and come back whole; what is wrong leaves all as it is. */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openSession } from "@branchlog/core";
import { nodePorts } from "@branchlog/core/testing";
import {
  archiveSessions,
  archivedSessions,
  deleteSession,
  findArchived,
  operations,
  restoreSession,
  undoOperation,
} from "@branchlog/library";
import { failingFileSystem, failures } from "../../support/failing-calls.ts";
import { sampledCalls } from "../../support/sampled-calls.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { keptPlace, ledgerOf, piName, write } from "./kept-sessions.ts";
import { nodeFileSystem } from "@branchlog/core/files";

function packOf(dataDir: string): string {
  const [name = ""] = readdirSync(join(dataDir, "packs"));
  return join(dataDir, "packs", name);
}

describe("archiving", () => {
  it("archives sessions of all agents with their other files, and restores them", async () => {
    const { root, dataDir, pi, omp, claude } = keptPlace();
    const before = ledgerOf(root);
    const { removed, failures: left, operation } = await archiveSessions([root], { dataDir });
    expect(left).toEqual([]);
    expect(removed.toSorted()).toEqual([claude, omp, pi].toSorted());
    expect(ledgerOf(root)).toEqual({});
    expect(existsSync(join(root, `pi/${piName}`))).toBe(false);
    const archived = await archivedSessions({ dataDir });
    expect(archived.map(({ agent }) => agent).toSorted()).toEqual(["claude", "omp", "pi"]);
    for (const { path } of archived) await restoreSession(path, { dataDir });
    expect(ledgerOf(root)).toEqual(before);
    expect(await archivedSessions({ dataDir })).toEqual([]);
    expect(operation).not.toBeNull();
  });

  it("removes a transcript from the cache", async () => {
    const { dataDir, claude } = keptPlace();
    const cache = temporaryDirectory();
    vi.stubEnv("BRANCHLOG_CACHE_DIR", cache);
    onTestFinished(() => void vi.unstubAllEnvs());
    await (await openSession(claude, { checkpointEveryBytes: 1 })).close();
    expect(readdirSync(join(cache, "checkpoints"))).toHaveLength(1);
    const { removed } = await archiveSessions([claude], { dataDir });
    expect(removed).toEqual([claude]);
    expect(readdirSync(join(cache, "checkpoints"))).toEqual([]);
  });

  it("archives a single session by its path, with its list facts", async () => {
    const { dataDir, pi } = keptPlace();
    const session = await openSession(pi, { access: "read" });
    const { messageCount, firstMessage } = await session.summary;
    const { sizeBytes } = await archiveSessions([pi], { dataDir });
    expect(sizeBytes).toBeGreaterThan(100_000);
    const [archived] = await archivedSessions({ dataDir });
    const { id, cwd } = session.header;
    const facts = { id, cwd, agent: "pi", messageCount, firstMessage, path: pi };
    expect(archived).toMatchObject(facts);
    for (const word of [pi, `${piName}.jsonl`, id, id.slice(0, 8)]) {
      expect((await findArchived(word, { dataDir })).path).toBe(pi);
    }
    await expect(findArchived("no such", { dataDir })).rejects.toMatchObject({
      code: "ERR_SESSION_NOT_FOUND",
    });
  });

  it("compresses data repeated across many sessions", async () => {
    const { root, dataDir } = keptPlace();
    const words = Array.from({ length: 3000 }, (_, n) => `${n * 7919}-${n % 61}`);
    const history = words.map((text, n) => JSON.stringify({ type: "custom", id: `${n}`, text }));
    for (let fork = 0; fork < 40; fork += 1) {
      const header = `{"type":"session","version":3,"id":"fork${fork}","timestamp":"t","cwd":"/w"}`;
      write(join(root, `forks/${fork}.jsonl`), `${[header, ...history].join("\n")}\n`);
    }
    const { sizeBytes, packedBytes } = await archiveSessions([join(root, "forks")], { dataDir });
    expect(sizeBytes / packedBytes).toBeGreaterThan(15);
  });

  it("restores the same files after archive, restore, delete and undo in any order", async () => {
    const step = fc.constantFrom("archive", "restore", "delete", "undo", "redo");
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const { root, dataDir, pi, omp } = keptPlace();
        const before = ledgerOf(root);
        for (const [at, name] of steps.entries()) {
          const path = at % 2 === 0 ? pi : omp;
          await taken(name, path, dataDir).catch((error: unknown) => {
            expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_/) as unknown });
          });
          const now = ledgerOf(root);
          for (const [file, facts] of Object.entries(now)) expect(facts).toBe(before[file]);
        }
        for (const { kind, id, undoneBy } of (await operations({ dataDir })).toReversed()) {
          if (kind === "undo" || undoneBy !== undefined) continue;
          if (kind !== "restore") await undoOperation(id, { dataDir });
        }
        expect(ledgerOf(root)).toEqual(before);
      }),
      { numRuns: 25 },
    );
  });
});

async function taken(step: string, path: string, dataDir: string): Promise<void> {
  if (step === "archive") await archiveSessions([path], { dataDir });
  if (step === "restore") await restoreSession(path, { dataDir });
  if (step === "delete") await deleteSession(path, { dataDir });
  if (step === "undo") await undoOperation(undefined, { dataDir });
  const last = (await operations({ dataDir })).at(-1);
  if (step === "redo" && last?.kind === "undo") await undoOperation(last.id, { dataDir });
}

describe("a session that cannot be archived is not changed", () => {
  it("when it has just changed, unless forced", async () => {
    const { root, dataDir, pi } = keptPlace();
    appendFileSync(pi, '{"type":"custom","id":"new","parentId":null,"customType":"x:y"}\n');
    const before = ledgerOf(root);
    const { removed, failures: left } = await archiveSessions([pi], { dataDir });
    expect([removed, left.map(({ code }) => code)]).toEqual([[], ["ERR_SESSION_BUSY"]]);
    expect(ledgerOf(root)).toEqual(before);
    await archiveSessions([pi], { dataDir, force: true });
    expect(existsSync(pi)).toBe(false);
  });

  it("when its lock is held, or it changes while it is archived", async () => {
    const { dataDir, pi } = keptPlace();
    const held = nodePorts.lock.tryAcquireSync(pi);
    const busy = await archiveSessions([pi], { dataDir });
    expect(busy.failures.map(({ code }) => code)).toEqual(["ERR_SESSION_BUSY"]);
    held?.releaseSync();
    // The record of the operation is written between packing and removing.
    const line = '{"type":"custom","id":"late","parentId":null,"customType":"x:y"}\n';
    const fs = {
      ...nodeFileSystem,
      syncDirectorySync: (path: string) => {
        if (path.endsWith("packs") && !readFileSync(pi, "utf8").includes("late")) {
          appendFileSync(pi, line);
        }
        nodeFileSystem.syncDirectorySync(path);
      },
    };
    const changed = await archiveSessions([pi], { dataDir, ports: { fs } });
    expect(changed.failures.map(({ code }) => code)).toEqual(["ERR_LOG_CHANGED"]);
    expect(readFileSync(pi, "utf8").endsWith(line)).toBe(true);
    expect(await archivedSessions({ dataDir })).toEqual([]);
  });

  it("when it is a link, a text file, or missing", async () => {
    const { root, dataDir, pi } = keptPlace();
    const link = join(root, "link.jsonl");
    symlinkSync(pi, link);
    const text = write(join(root, "text.jsonl"), "hello\n");
    const codes = { [link]: "ERR_NOT_A_SESSION", [text]: "ERR_NOT_A_SESSION" };
    for (const [path, code] of Object.entries({ ...codes, [`${pi}.gone`]: "ERR_LOG_MISSING" })) {
      await expect(archiveSessions([path], { dataDir })).rejects.toMatchObject({ code });
    }
    expect(await operations({ dataDir })).toEqual([]);
  });

  it.skipIf(process.geteuid?.() === 0)("when its directory has no write permission", async () => {
    const { root, dataDir, pi } = keptPlace();
    chmodSync(dirname(pi), 0o500);
    const before = ledgerOf(root);
    const { failures: left } = await archiveSessions([pi], { dataDir });
    chmodSync(dirname(pi), 0o700);
    expect(left.map(({ code }) => code)).toEqual(["ERR_DELETE_FAILED"]);
    expect(ledgerOf(root)).toEqual(before);
  });

  it.each(Object.keys(failures))("when the disk fails: %s", async (name) => {
    const failure = failures[name];
    if (failure === undefined) return;
    await sampledCalls(32, async (n) => {
      const { root, dataDir, pi } = keptPlace();
      const before = ledgerOf(root);
      const failing = failingFileSystem(nodeFileSystem);
      failing.arm(n, failure);
      const done = await archiveSessions([pi], { dataDir, ports: { fs: failing.fs } }).then(
        ({ failures: left }) => left.map(({ code }) => code),
        (error: unknown) => [error instanceof Error && "code" in error ? error.code : "raw"],
      );
      const hasFailed = failing.disarm();
      for (const code of done) expect(code).toMatch(/^ERR_/);
      // Removed or not: it is there, or it can be restored; the next command completes the rest.
      await archiveSessions([], { dataDir });
      if (!existsSync(pi)) await restoreSession(pi, { dataDir });
      for (const [file, facts] of Object.entries(ledgerOf(root))) expect(facts).toBe(before[file]);
      expect(existsSync(pi)).toBe(true);
      return hasFailed;
    });
  });
});

describe("an archive that is damaged", () => {
  it.each([
    ["cut", (path: string) => truncateSync(path, statSync(path).size - 7)],
    ["empty", (path: string) => truncateSync(path, 0)],
    ["flipped", flip],
  ])("restores nothing, and reports it: %s", async (_, damage) => {
    const { root, dataDir, pi } = keptPlace();
    await archiveSessions([pi], { dataDir });
    damage(packOf(dataDir));
    const left = ledgerOf(root);
    const refused = { code: "ERR_ARCHIVE_DAMAGED" };
    await expect(restoreSession(pi, { dataDir })).rejects.toMatchObject(refused);
    await expect(undoOperation(undefined, { dataDir })).rejects.toMatchObject(refused);
    expect(ledgerOf(root)).toEqual(left);
  });

  it("reports any changed byte, or restores the same files", async () => {
    const { root, dataDir, pi } = keptPlace();
    const before = ledgerOf(root);
    await archiveSessions([pi], { dataDir });
    const pack = packOf(dataDir);
    const bytes = readFileSync(pack);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.length - 1),
        fc.integer({ min: 1, max: 255 }),
        async (at, bits) => {
          const changed = Buffer.from(bytes);
          changed[at] = (changed[at] ?? 0) ^ bits;
          writeFileSync(pack, changed);
          const copy = join(temporaryDirectory(), "copy.jsonl");
          await restoreSession(pi, { dataDir, output: copy }).catch((error: unknown) => {
            expect(error).toMatchObject({ code: "ERR_ARCHIVE_DAMAGED" });
            expect(existsSync(copy)).toBe(false);
          });
          if (existsSync(copy)) {
            expect(Object.values(ledgerOf(dirname(copy)))).toEqual([before[pi]]);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

function flip(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  writeFileSync(path, bytes);
}

describe("restoring", () => {
  it("never replaces a file", async () => {
    const { dataDir, pi } = keptPlace();
    await archiveSessions([pi], { dataDir });
    const other = join(temporaryDirectory(), "other.jsonl");
    writeFileSync(other, "mine");
    const exists = { code: "ERR_LOG_EXISTS" };
    const copy = restoreSession(pi, { dataDir, output: other });
    await expect(copy).rejects.toMatchObject(exists);
    mkdirSync(pi);
    await expect(restoreSession(pi, { dataDir })).rejects.toMatchObject(exists);
    await expect(undoOperation(undefined, { dataDir })).rejects.toMatchObject({
      code: "ERR_UNDO_REFUSED",
    });
    expect(readFileSync(other, "utf8")).toBe("mine");
  });

  it("continues an interrupted call", async () => {
    const { root, dataDir, pi } = keptPlace();
    const before = ledgerOf(root);
    await archiveSessions([pi], { dataDir });
    write(`${pi}.v1-original`, "as it was\n");
    await restoreSession(pi, { dataDir });
    expect(ledgerOf(root)).toEqual(before);
  });
});
