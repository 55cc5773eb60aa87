/** Programs without the lock write while files are removed and moved: no line of theirs is lost. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { nodeFileSystem } from "@branchlog/core/files";
import { getDefaultSessionDir } from "@branchlog/agents/pi";
import { fileError, nodePorts } from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/types";
import { applyRepair, planRepair } from "@branchlog/tools";
import {
  archiveSessions,
  archivedSessions,
  deleteSession,
  moveSessions,
  recordReplacement,
  restoreSession,
  undoOperation,
} from "@branchlog/library";
import { patience, runs, seed } from "../../support/fault-seed.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";
import type { ObservedCall } from "../../support/observed-file-system.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { write } from "./kept-sessions.ts";
import { asideIn, survivors } from "./survivors.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const appending = fileURLToPath(new URL("appending-process.mjs", import.meta.url));

/** Of the calls of an operation, how many are from one tried one to the next: all in a soak. */
const step = runs(16, 1);

type Given = { readonly ports?: Partial<Ports> };

interface Scene {
  readonly root: string;
  readonly dataDir: string;
  /** The file that is removed or moved. */
  readonly path: string;
  readonly act: (given: Given) => Promise<unknown>;
  /** Whether its lines are wanted afterwards. */
  readonly isKept: boolean;
}

const custom = (id: string): string =>
  `{"type":"custom","id":"${id}","parentId":null,"timestamp":"t","customType":"x:y"}`;
const late = custom("late");
const edited = custom("edited");

/** Changed long ago, as far as the clock tells. */
const quiet = { clock: { ...nodePorts.clock, now: () => Date.now() + 3_600_000 } };

function session(path: string, cwd: string): string {
  const header = { type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00Z", cwd };
  return write(path, `${JSON.stringify(header)}\n${custom("1")}\n${custom("2")}\n`);
}

async function scene(name: string): Promise<Scene> {
  const root = temporaryDirectory();
  const dataDir = temporaryDirectory();
  vi.stubEnv("HOME", root);
  vi.stubEnv("PI_CODING_AGENT_DIR", join(root, "agent"));
  const [from, to] = [join(root, "shop"), join(root, "shop-api")];
  const shared = { root, dataDir, isKept: true };
  const own = session(join(root, "s.jsonl"), "/w");
  switch (name) {
    case "archive":
      return {
        ...shared,
        path: own,
        act: ({ ports }) => archiveSessions([own], { dataDir, ports: { ...quiet, ...ports } }),
      };
    case "delete":
      return { ...shared, path: own, act: (given) => deleteSession(own, { dataDir, ...given }) };
    case "delete permanently": {
      const act = (given: Given): Promise<unknown> =>
        deleteSession(own, { dataDir, permanent: true, ...given });
      return { ...shared, path: own, act, isKept: false };
    }
    case "undo of restore": {
      await archiveSessions([own], { dataDir });
      const { operation } = await restoreSession(own, { dataDir });
      const act = (given: Given): Promise<unknown> =>
        undoOperation(operation ?? "", { dataDir, ...given });
      return { ...shared, path: own, act };
    }
    case "undo of repair": {
      appendFileSync(own, '{"type":"mess\n');
      const plan = await planRepair(own);
      const { original, lateBytes } = await applyRepair(plan);
      const sizeBytes = plan.repaired.sizeBytes + lateBytes;
      const replaced = { kind: "repair", path: own, original: original ?? "", sizeBytes } as const;
      await recordReplacement(replaced, { dataDir });
      return {
        ...shared,
        path: own,
        act: (given) => undoOperation(undefined, { dataDir, ...given }),
      };
    }
    case "mv": {
      mkdirSync(to);
      const path = session(join(getDefaultSessionDir(from), "s.jsonl"), from);
      const act = ({ ports }: Given): Promise<unknown> =>
        moveSessions(from, to, { dataDir, ports: { ...quiet, ...ports } });
      return { ...shared, path, act };
    }
    default: {
      mkdirSync(to);
      const project = (directory: string): string => directory.replaceAll(/[^A-Za-z0-9]/g, "-");
      const uuid = "c1a0de00-0000-4000-8000-00000000000a";
      const path = join(root, ".claude/projects", project(from), `${uuid}.jsonl`);
      const line = { type: "user", uuid: "u", parentUuid: null, sessionId: uuid, cwd: from };
      const message = { role: "user", content: "hello" };
      const told = { ...line, version: "2", timestamp: "2026-01-01T00:00:00.000Z", message };
      write(path, `${JSON.stringify(told)}\n${custom("1")}\n${custom("2")}\n`);
      vi.stubEnv("CLAUDE_CONFIG_DIR", join(root, ".claude"));
      const act = ({ ports }: Given): Promise<unknown> =>
        moveSessions(from, to, { dataDir, ports: { ...quiet, ...ports } });
      return { ...shared, path, act };
    }
  }
}

const scenes = [
  "archive",
  "delete",
  "delete permanently",
  "undo of restore",
  "undo of repair",
  "mv",
  "mv of Claude Code",
];

/** What other programs do, with the lines that they write. */
const programs: Readonly<Record<string, readonly [string, (path: string) => void]>> = {
  "appends by its path": [late, (path) => appendFileSync(path, `${late}\n`)],
  "replaces it": [
    edited,
    (path) => {
      const temporary = join(dirname(path), "editor.swap");
      writeFileSync(temporary, `${edited}\n`);
      renameSync(temporary, path);
    },
  ],
};

/** Calls `at` before the n-th call on a file of the scene, as long as there is one. */
function interrupted(
  { root }: Scene,
  n: number,
  at: (call: ObservedCall) => void,
): { readonly given: Given; readonly hasCome: () => boolean } {
  let calls = 0;
  const fs = observedFileSystem(nodeFileSystem, (call, effect) => {
    if (call.path.startsWith(root)) {
      if (calls === n) at(call);
      calls += 1;
    }
    return effect();
  });
  return { given: { ports: { fs } }, hasCome: () => calls > n };
}

/** As if the process ended before the n-th call on a file of the scene. */
function killed({ root }: Scene, n: number): { readonly given: Given; isDead: boolean } {
  let calls = 0;
  const state = { given: {}, isDead: false };
  const fs = observedFileSystem(nodeFileSystem, (call, effect) => {
    state.isDead ||= call.path.startsWith(root) && calls === n;
    if (state.isDead) throw fileError("EIO", call.name, call.path);
    if (call.path.startsWith(root)) calls += 1;
    return effect();
  });
  return Object.assign(state, { given: { ports: { fs } } });
}

async function ended(act: Promise<unknown>): Promise<void> {
  await act.catch((error: unknown) => {
    expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_/) as unknown });
  });
}

describe.each(scenes)(`during %s, BRANCHLOG_SEED=${seed}`, (name) => {
  it.each(Object.keys(programs))("a program that %s loses nothing at any time", async (program) => {
    const [line = "", does = () => undefined] = programs[program] ?? [];
    for (let n = seed % step; ; n += step) {
      const at = await scene(name);
      const { root, dataDir, path, act } = at;
      const { given, hasCome } = interrupted(at, n, () => does(path));
      await ended(act(given));
      if (!hasCome()) break;
      expect((await survivors(root, dataDir)).get(line), `call ${n}`).toBe(1);
      await archiveSessions([], { dataDir });
      expect((await survivors(root, dataDir)).get(line), `call ${n}, recovered`).toBe(1);
    }
  });

  it("a program that has it open loses nothing until the call that removes it", async () => {
    for (let n = seed % step; ; n += step) {
      const at = await scene(name);
      const { root, dataDir, path, act } = at;
      const { ino } = statSync(path);
      const fd = openSync(path, "a");
      let isLate = false;
      const { given, hasCome } = interrupted(at, n, (call) => {
        // Which files this process has open is not asked; that of others is the next test.
        isLate = call.name === "unlinkSync" && statSync(call.path).ino === ino;
        isLate ||= fstatSync(fd).nlink === 0;
        if (!isLate) writeSync(fd, `${late}\n`);
      });
      await ended(act(given));
      closeSync(fd);
      if (!hasCome()) break;
      if (isLate) continue;
      expect((await survivors(root, dataDir)).get(late), `call ${n}`).toBe(1);
    }
  });

  it("a kill at any call loses nothing, and the next command recovers it", async () => {
    for (let n = seed % step; ; n += step) {
      const at = await scene(name);
      const { root, dataDir, path, act, isKept } = at;
      const lines = readFileSync(path, "utf8").split("\n").slice(1, -1);
      const kill = killed(at, n);
      await ended(act(kill.given));
      const left = await survivors(root, dataDir);
      if (isKept) for (const line of lines) expect(left.has(line), `call ${n}`).toBe(true);
      await archiveSessions([path], { dataDir }).catch(() => undefined);
      expect(asideIn(root), `call ${n}`).toEqual([]);
      const after = await survivors(root, dataDir);
      if (isKept) for (const line of lines) expect(after.has(line), `call ${n}`).toBe(true);
      if (!kill.isDead) break;
    }
  });
});

describe(`a process that appends continuously during removals, BRANCHLOG_SEED=${seed}`, () => {
  it.each(["archive", "delete"])("loses no line to %s", patience, async (name) => {
    const place = await scene(name);
    const { root, dataDir, path, act } = place;
    const writer = spawn(process.execPath, [appending, path, `${seed}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let told = "";
    writer.stdout.on("data", (bytes: Buffer) => void (told += bytes.toString()));
    await once(writer.stdout, "data");
    for (let run = 0; run < runs(8, 2_000); run += 1) {
      await ended(act({}));
      beginAgain(path, `${path}-${run}`);
    }
    writer.kill("SIGKILL");
    await once(writer, "close");
    const left = await survivors(root, dataDir);
    const written = told.split("\n").slice(0, -1);
    expect(written.filter((line) => !left.has(line))).toEqual([]);
    expect(written.filter((line) => (left.get(line) ?? 0) > 1)).toEqual([]);
  });
});

/** A session at the path, unless there is one: what the writer made there gets another name. */
function beginAgain(path: string, other: string): void {
  if (existsSync(path)) {
    if (readFileSync(path, "utf8").startsWith('{"type":"session"')) return;
    renameSync(path, other);
  }
  const made = session(`${other}.made`, "/w");
  try {
    linkSync(made, path);
  } catch {
    // The writer was faster: next time.
  }
  unlinkSync(made);
}

it.runIf(process.platform === "linux").each(["archive", "delete", "mv"])(
  "a program of another process that opens it just before its name is taken keeps it: %s",
  async (name) => {
    const { root, dataDir, path, act } = await scene(name);
    let pid = 0;
    const fs = observedFileSystem(nodeFileSystem, (call, effect) => {
      const isTaken = call.name === "renameSync" && call.path === path;
      if (isTaken && pid === 0) pid = holderOf(path);
      return effect();
    });
    const text = readFileSync(path, "utf8");
    await ended(act({ ports: { fs } }));
    expect(pid).toBeGreaterThan(0);
    process.kill(pid);
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(asideIn(root)).toEqual([]);
    expect(await archivedSessions({ dataDir })).toEqual([]);
  },
);

/** A process that has the file open; returns once it has. */
function holderOf(path: string): number {
  const script = 'exec 3>>"$1"; sleep 600 >/dev/null 2>&1 & echo $!';
  return Number(execFileSync("sh", ["-c", script, "sh", path], { encoding: "utf8" }));
}
