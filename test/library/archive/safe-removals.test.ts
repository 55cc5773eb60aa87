/** What removes files never removes more than it keeps, and says what it cannot know. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { openSession } from "@branchlog/core";
import { getDefaultSessionDir } from "@branchlog/agents/pi";
import { nodePorts } from "@branchlog/core/testing";
import {
  archiveSessions,
  archivedSessions,
  deleteSession,
  findArchived,
  moveSessions,
  operations,
  restoreSession,
  undoOperation,
} from "@branchlog/library";
import type { DataDirectoryOptions } from "@branchlog/library";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { keptPlace, ledgerOf, write } from "./kept-sessions.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const line = '{"type":"custom","id":"late","parentId":null,"timestamp":"t","customType":"x:y"}\n';
const dayMs = 24 * 60 * 60 * 1000;

/** Another process that has a file open, as an agent that waits for its user. */
async function opened(path: string): Promise<void> {
  const script =
    'require("fs").openSync(process.argv[1],"a");console.log(1);setInterval(()=>{},1e6)';
  const child = spawn(process.execPath, ["-e", script, path]);
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  await once(child.stdout, "data");
}

describe("a file that is in use", () => {
  it.runIf(process.platform === "linux")("is not archived, moved, or removed by undo", async () => {
    const { dataDir, pi, claude } = keptPlace();
    const { operation } = await archiveSessions([pi, claude], { dataDir });
    const undo = await undoOperation(operation ?? "", { dataDir });
    await opened(claude);
    const busy = { code: "ERR_SESSION_BUSY" };
    const { failures } = await archiveSessions([claude], { dataDir });
    expect(failures).toMatchObject([busy]);
    await expect(undoOperation(undo.operation, { dataDir })).rejects.toMatchObject(busy);
    expect(existsSync(claude)).toBe(true);
  });

  it("is not removed again when its lock is held, or entries were appended", async () => {
    const { dataDir, pi } = keptPlace();
    const { operation } = await archiveSessions([pi], { dataDir });
    const undo = await undoOperation(operation ?? "", { dataDir });
    const held = nodePorts.lock.tryAcquireSync(pi);
    const busy = { code: "ERR_SESSION_BUSY" };
    await expect(undoOperation(undo.operation, { dataDir })).rejects.toMatchObject(busy);
    held?.releaseSync();
    // Between the check and the removal.
    const ports = {
      clock: {
        ...nodePorts.clock,
        now: () => {
          if (!readFileSync(pi, "utf8").includes("late")) appendFileSync(pi, line);
          return nodePorts.clock.now();
        },
      },
    };
    const again = undoOperation(undo.operation, { dataDir, ports });
    await expect(again).rejects.toMatchObject({ code: "ERR_LOG_CHANGED" });
    expect(readFileSync(pi, "utf8").endsWith(line)).toBe(true);
    expect(await archivedSessions({ dataDir })).toEqual([]);
  });
});

describe("a kept file", () => {
  it("is kept for 30 days from when it was last removed", async () => {
    const { dataDir, pi, omp } = keptPlace();
    const at = (days: number): DataDirectoryOptions => ({
      dataDir,
      ports: { clock: { ...nodePorts.clock, now: () => Date.now() + days * dayMs } },
    });
    await deleteSession(pi, at(0));
    const { operation } = await undoOperation(undefined, at(29));
    const { operation: again } = await undoOperation(operation, at(29));
    await deleteSession(omp, at(31));
    await undoOperation(again, at(31));
    expect(existsSync(pi)).toBe(true);
  });

  it("is recorded with any time of a file system", async () => {
    const { root, dataDir, pi, omp } = keptPlace();
    const before = Object.keys(ledgerOf(root));
    utimesSync(omp, 90_000_000_000_000, 90_000_000_000_000);
    await archiveSessions([pi, omp], { dataDir, force: true });
    await deleteSession(
      write(join(root, "z.jsonl"), readFileSync(join(dataDir, "operations.jsonl"))),
      { dataDir },
    );
    await undoOperation(undefined, { dataDir });
    rmSync(join(root, "z.jsonl"));
    await undoOperation(undefined, { dataDir });
    expect(Object.keys(ledgerOf(root))).toEqual(before);
  });

  it("is still known when one record is damaged, and the damage is reported", async () => {
    const { dataDir, pi, omp } = keptPlace();
    await archiveSessions([pi], { dataDir });
    await archiveSessions([omp], { dataDir });
    const log = join(dataDir, "operations.jsonl");
    const text = readFileSync(log, "utf8");
    writeFileSync(log, text.replace('"kind":"removed"', '"kind":"rXmoved"'));
    const problems: string[] = [];
    const onProblem = ({ code }: { readonly code: string }): void => void problems.push(code);
    expect(await archivedSessions({ dataDir, onProblem })).toMatchObject([{ path: omp }]);
    expect(problems).toEqual(["ERR_ARCHIVE_DAMAGED"]);
    truncateSync(log, 0);
    const damaged = { code: "ERR_ARCHIVE_DAMAGED", path: log };
    await expect(archivedSessions({ dataDir })).rejects.toMatchObject(damaged);
    const { root, pi: other } = keptPlace();
    const left = ledgerOf(root);
    await expect(archiveSessions([other], { dataDir })).rejects.toMatchObject(damaged);
    expect(ledgerOf(root)).toEqual(left);
  });

  it("is never removed by commands, under any name", async () => {
    const { dataDir, pi } = keptPlace();
    await archiveSessions([pi], { dataDir });
    const link = join(temporaryDirectory(), "link");
    symlinkSync(dataDir, link);
    const log = join(dataDir, "operations.jsonl");
    for (const place of [dataDir, link]) {
      const refused = deleteSession(log, { dataDir: place, permanent: true });
      await expect(refused).rejects.toMatchObject({ code: "ERR_DELETE_FAILED" });
      const { failures } = await archiveSessions([log], { dataDir: place, force: true });
      expect(failures).toMatchObject([{ code: "ERR_DELETE_FAILED" }]);
    }
    expect(await archivedSessions({ dataDir: link })).toMatchObject([{ path: pi }]);
  });

  it("does not touch a directory of the same name that is not an agent's", async () => {
    const { root, dataDir, pi } = keptPlace();
    const notes = join(root, "notes.jsonl");
    renameSync(pi, notes);
    write(join(root, "notes/src/main.ts"), "a project\n");
    await archiveSessions([notes], { dataDir });
    expect(existsSync(join(root, "notes/src/main.ts"))).toBe(true);
  });
});

describe("archived versions", () => {
  it("of one path are each found, also while another session is there", async () => {
    const { dataDir, pi } = keptPlace();
    const session = await openSession(pi, { access: "read" });
    const { id } = session.header;
    await session.close();
    await archiveSessions([pi], { dataDir });
    const header = { type: "session", version: 3, id: "other", timestamp: "t", cwd: "/w" };
    write(pi, `${JSON.stringify(header)}\n`);
    expect((await findArchived(id, { dataDir })).path).toBe(pi);
    const copy = join(temporaryDirectory(), "copy.jsonl");
    await restoreSession(id, { dataDir, output: copy });
    expect(readFileSync(copy, "utf8")).toContain(id);
    await expect(restoreSession(id, { dataDir })).rejects.toMatchObject({ code: "ERR_LOG_EXISTS" });
    await archiveSessions([pi], { dataDir });
    expect((await archivedSessions({ dataDir })).map(({ id: one }) => one).toSorted()).toEqual(
      [id, "other"].toSorted(),
    );
    expect((await findArchived(pi, { dataDir })).id).toBe("other");
  });

  it("are listed even if a part of their path is another file", async () => {
    const { dataDir, pi } = keptPlace();
    await archiveSessions([pi], { dataDir });
    rmSync(dirname(pi), { recursive: true });
    writeFileSync(dirname(pi), "a file");
    expect(await archivedSessions({ dataDir })).toHaveLength(1);
    const failed = restoreSession(pi, { dataDir });
    await expect(failed).rejects.toMatchObject({ code: "ERR_CREATE_FAILED" });
  });

  it("are not changed by an operation that removed nothing", async () => {
    const { dataDir, pi, omp } = keptPlace();
    await archiveSessions([omp], { dataDir });
    const held = nodePorts.lock.tryAcquireSync(pi);
    await expect(deleteSession(pi, { dataDir })).rejects.toMatchObject({
      code: "ERR_SESSION_BUSY",
    });
    held?.releaseSync();
    expect((await operations({ dataDir })).map(({ kind }) => kind)).toEqual(["archive"]);
    await undoOperation(undefined, { dataDir });
    expect(existsSync(omp)).toBe(true);
  });
});

describe("moved sessions", () => {
  function projects(): { readonly from: string; readonly to: string; readonly dataDir: string } {
    const home = temporaryDirectory();
    vi.stubEnv("HOME", home);
    vi.stubEnv("PI_CODING_AGENT_DIR", join(home, "agent"));
    const [from, to] = [join(home, "shop"), join(home, "shop-api")];
    mkdirSync(to);
    return { from, to, dataDir: temporaryDirectory() };
  }

  function session(cwd: string, name: string, id = name): string {
    const header = { type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00Z", cwd };
    return write(join(getDefaultSessionDir(cwd), `${name}.jsonl`), `${JSON.stringify(header)}\n`);
  }

  it("include their subagents, and are restored together", async () => {
    const { from, to, dataDir } = projects();
    const main = session(from, "2026-01-01T00-00-00-000Z_m");
    const header = JSON.stringify({
      type: "session",
      version: 3,
      id: "sub",
      timestamp: "t",
      cwd: from,
    });
    write(join(main.replace(/\.jsonl$/, ""), "Sub.jsonl"), `${header}\n`);
    const before = ledgerOf(dirname(dirname(main)));
    const { moved, failures } = await moveSessions(from, to, { dataDir });
    expect([moved.length, failures]).toEqual([1, []]);
    await undoOperation(undefined, { dataDir });
    expect(ledgerOf(dirname(dirname(main)))).toEqual(before);
  });

  it("can be undone when one of them was not moved", async () => {
    const { from, to, dataDir } = projects();
    const paths = ["a", "b"].map((name) => session(from, name));
    const taken = session(to, "b", "another");
    const root = dirname(dirname(taken));
    const before = ledgerOf(root);
    const { failures } = await moveSessions(from, to, { dataDir });
    expect(failures).toMatchObject([{ code: "ERR_LOG_EXISTS" }]);
    await undoOperation(undefined, { dataDir });
    expect(ledgerOf(root)).toEqual(before);
    for (const path of paths) expect(existsSync(path)).toBe(true);
  });

  it("all stay in place when the header of one changed", async () => {
    const { from, to, dataDir } = projects();
    session(from, "a");
    session(from, "b");
    await moveSessions(from, to, { dataDir });
    const moved = join(getDefaultSessionDir(to), "a.jsonl");
    write(moved, readFileSync(moved, "utf8").replace('"a"', '"z"'));
    const before = ledgerOf(dirname(dirname(moved)));
    await expect(undoOperation(undefined, { dataDir })).rejects.toMatchObject({
      code: "ERR_UNDO_REFUSED",
    });
    expect(ledgerOf(dirname(dirname(moved)))).toEqual(before);
  });

  it("are not moved when they just changed, and their other files cannot be moved", async () => {
    const { from, to, dataDir } = projects();
    const path = session(from, "2026-01-01T00-00-00-000Z_m");
    appendFileSync(path, line);
    const { failures } = await moveSessions(from, to, { dataDir });
    expect(failures).toMatchObject([{ code: "ERR_SESSION_BUSY" }]);
    write(path, readFileSync(path));
    write(join(path.replace(/\.jsonl$/, ""), "x.txt"), "x");
    mkdirSync(join(getDefaultSessionDir(to), "2026-01-01T00-00-00-000Z_m"), { recursive: true });
    const before = ledgerOf(dirname(path));
    const { moved } = await moveSessions(from, to, { dataDir });
    expect(moved).toEqual([]);
    expect(ledgerOf(dirname(path))).toEqual(before);
    expect(readdirSync(getDefaultSessionDir(to))).toEqual(["2026-01-01T00-00-00-000Z_m"]);
  });
});
