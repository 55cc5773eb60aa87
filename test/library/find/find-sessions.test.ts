/** Finding the sessions of all agents below directories, and one of them by name or id. */
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setImmediate as nextIteration } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findSessions, knownPlaces, resolveSession } from "@branchlog/library";
import type { FindOptions } from "@branchlog/library";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { typedError } from "../../support/typed-errors.ts";
import { linesOf } from "../../core/copies/session-files.ts";
import { stored, user } from "../../core/projections/sample-entries.ts";

interface Written {
  readonly id?: string;
  readonly name?: string;
  readonly cwd?: string;
}

function write(
  path: string,
  { id = basename(path, ".jsonl"), name, cwd = "/w" }: Written = {},
): void {
  mkdirSync(dirname(path), { recursive: true });
  const header = { type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd };
  const names = name === undefined ? [] : [stored("session_info", "n", null, { name })];
  writeFileSync(path, linesOf([header, user("1", null, "hello"), ...names]));
}

async function idsIn(place: string, options?: FindOptions): Promise<string[]> {
  const { sessions } = await findSessions([place], options);
  return sessions.map(({ header }) => header.id).sort();
}

describe("finding sessions", () => {
  it("reads directories of any depth, and ignores other files", async () => {
    const root = temporaryDirectory();
    write(join(root, "a.jsonl"));
    write(join(root, "--w--", "b.jsonl"));
    write(join(root, "x", "y", ".pi", "c.jsonl"));
    write(join(root, "node_modules", "d.jsonl"));
    writeFileSync(join(root, "other.jsonl"), "{}\n");
    mkdirSync(join(root, "dir.jsonl"));
    expect(await idsIn(root)).toEqual(["a", "b", "c"]);
  });

  it("reports progress before each file, including those excluded by a limit", async () => {
    const root = temporaryDirectory();
    for (const name of ["a", "b", "c"]) write(join(root, name, `${name}.jsonl`));
    for (const limit of [undefined, 1]) {
      const seen: unknown[] = [];
      await idsIn(root, { limit, onProgress: (progress) => seen.push(progress) });
      expect(seen).toEqual([0, 1, 2].map((searched) => ({ searched, total: 3 })));
    }
  });

  it("treats transcripts of subagents as sessions only on request", async () => {
    const root = temporaryDirectory();
    write(join(root, "-w", "main.jsonl"));
    write(join(root, "-w", "main", "sub.jsonl"));
    write(join(root, "-w", "main", "sub", "subsub.jsonl"));
    expect(await idsIn(root)).toEqual(["main"]);
    expect(await idsIn(root, { artifacts: true })).toEqual(["main", "sub", "subsub"]);
  });

  it("reads each file once, and ends with cyclic directories", async () => {
    const root = temporaryDirectory();
    write(join(root, "a", "s.jsonl"));
    symlinkSync(root, join(root, "a", "up"));
    symlinkSync(join(root, "a"), join(root, "b"));
    symlinkSync(join(root, "a", "s.jsonl"), join(root, "t.jsonl"));
    symlinkSync(join(root, "nowhere"), join(root, "c"));
    expect(await idsIn(root)).toEqual(["s"]);
    const { sessions } = await findSessions([root, join(root, "a"), join(root, "b")]);
    expect(sessions).toHaveLength(1);
  });

  it("finds the files of ConnectOnion agents in their directories, or in given ones", async () => {
    const root = temporaryDirectory();
    const yaml = "name: oo\nturns:\n- turn: 1\n";
    mkdirSync(join(root, "p", ".co", "sessions"), { recursive: true });
    writeFileSync(join(root, "p", ".co", "sessions", "oo.yaml"), yaml);
    writeFileSync(join(root, "p", "other.yaml"), yaml);
    writeFileSync(join(root, "here.yml"), yaml);
    writeFileSync(join(root, "not.yaml"), "a: 1\n");
    mkdirSync(join(root, "dir.yaml"));
    const { sessions } = await findSessions([root]);
    expect(sessions.map(({ path, header: { cwd } }) => [basename(path), cwd])).toEqual(
      expect.arrayContaining([
        ["oo.yaml", join(root, "p")],
        ["here.yml", root],
      ]),
    );
    expect(sessions).toHaveLength(2);
  });

  it("removes everything of missing sessions", async () => {
    const root = temporaryDirectory();
    writeFileSync(join(root, "gone.jsonl.ckpt"), "BLCKPT");
    expect(await idsIn(root, { catalog: "off" })).toEqual([]);
    expect(readdirSync(root)).toHaveLength(1);
    expect(await idsIn(root)).toEqual([]);
    expect(readdirSync(root)).toEqual([]);
  });

  it("lists all others when a directory is removed at any time", async () => {
    for (let turns = 0; turns < 40; turns += 1) {
      const root = temporaryDirectory();
      for (const name of ["a", "b", "c", "d"]) write(join(root, name, `${name}.jsonl`));
      const finding = idsIn(root, { catalog: "off" });
      for (let n = turns; n > 0; n -= 1) await nextIteration();
      rmSync(join(root, "d"), { recursive: true });
      const found = await finding;
      expect(found.filter((id) => id !== "d")).toEqual(["a", "b", "c"]);
    }
  });

  it("fails for a missing path, and ends with the reason of its signal", async () => {
    const root = temporaryDirectory();
    await expect(findSessions([join(root, "gone")])).rejects.toMatchObject({
      code: "ERR_LOG_MISSING",
    });
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(findSessions([root], { signal })).rejects.toThrow("enough");
  });
});

describe("the places that agents use", () => {
  const names = [
    "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR",
    "OMP_CODING_AGENT_DIR",
    "PI_CONFIG_DIR",
    "OMP_PROFILE",
    "PI_PROFILE",
    "XDG_DATA_HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
  ] as const;
  beforeEach(() => {
    for (const name of names) vi.stubEnv(name, undefined);
    vi.stubEnv("HOME", temporaryDirectory());
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  function made(...parts: readonly string[]): string {
    const path = join(homedir(), ...parts);
    mkdirSync(path, { recursive: true });
    return path;
  }

  it("are the existing ones, by the rules of each agent", () => {
    expect(knownPlaces()).toEqual([]);
    const pi = made(".pi", "agent", "sessions");
    const omp = made(".omp", "agent", "sessions");
    const shared = made("data", "omp", "sessions");
    const profile = made(".omp", "profiles", "work", "agent", "sessions");
    const flat = made("flat");
    const agent = made("agent", "sessions");
    expect(knownPlaces()).toEqual([pi, omp]);
    vi.stubEnv("XDG_DATA_HOME", join(homedir(), "data"));
    vi.stubEnv("PI_CODING_AGENT_SESSION_DIR", "~/flat");
    expect(knownPlaces()).toEqual([pi, flat, omp, shared]);
    vi.stubEnv("PI_CODING_AGENT_DIR", "~/agent");
    expect(knownPlaces()).toEqual([agent, flat]);
    vi.stubEnv("OMP_PROFILE", "work");
    expect(knownPlaces()).toEqual([agent, flat, profile]);
    vi.stubEnv("OMP_PROFILE", "../../etc");
    expect(knownPlaces()).toEqual([agent, flat]);
  });

  it("are also those of Claude Code and of Codex, with its archive", () => {
    const claude = made(".claude", "projects");
    const [codex, archive] = [made(".codex", "sessions"), made(".codex", "archived_sessions")];
    const [movedClaude, movedCodex] = [made("c", "projects"), made("x", "sessions")];
    expect(knownPlaces()).toEqual([claude, codex, archive]);
    vi.stubEnv("CLAUDE_CONFIG_DIR", "~/c");
    vi.stubEnv("CODEX_HOME", "~/x");
    expect(knownPlaces()).toEqual([movedClaude, movedCodex]);
  });
});

describe("a session by name or id", () => {
  function place(): string {
    const root = temporaryDirectory();
    write(join(root, "one.jsonl"), { id: "0197-aaaa", name: "Fix the test" });
    write(join(root, "two.jsonl"), { id: "0197-aabb", name: "fix the test" });
    write(join(root, "three.jsonl"), { id: "0197", name: "Other" });
    return root;
  }

  it.each([
    ["the id", "0197", "three"],
    ["the file name", "two.jsonl", "two"],
    ["the name", "Fix the test", "one"],
    ["the name in other cases", "OTHER", "three"],
    ["the beginning of the id", "0197-aaA", "one"],
  ])("is found by %s", async (_, wanted, expected) => {
    const { path } = await resolveSession(wanted, [place()]);
    expect(basename(path, ".jsonl")).toBe(expected);
  });

  it("is that of the working directory if several match, and the latest one as @latest", async () => {
    const root = temporaryDirectory();
    write(join(root, "one.jsonl"), { id: "0197-aaaa", cwd: "/here" });
    write(join(root, "two.jsonl"), { id: "0197-aabb", cwd: "/there" });
    for (const cwd of ["/here", "/there"]) {
      for (const wanted of ["0197", "@latest"]) {
        expect((await resolveSession(wanted, [root], { cwd })).header.cwd).toBe(cwd);
      }
    }
    await expect(resolveSession("0197", [root], { cwd: "/" })).rejects.toThrow("2 sessions");
    const [latest] = (await findSessions([root])).sessions;
    expect((await resolveSession("@latest", [root], { cwd: "/" })).path).toBe(latest?.path);
  });

  it("is the latest one of the working directory, even if others changed since", async () => {
    const root = temporaryDirectory();
    // Of equal times, the first path counts.
    for (let n = 0; n < 60; n += 1) write(join(root, `a${n}.jsonl`));
    write(join(root, "z.jsonl"), { cwd: "/old" });
    const old = await resolveSession("@latest", [root], { cwd: "/old" });
    expect(old.header.cwd).toBe("/old");
    expect((await resolveSession("@latest", [root])).header.cwd).toBe("/w");
    const none = resolveSession("@latest", [temporaryDirectory()], { cwd: "/old" });
    await expect(none).rejects.toMatchObject({ code: "ERR_SESSION_NOT_FOUND" });
  });

  it("is ambiguous if several match, and lists them", async () => {
    const root = place();
    const candidates = [join(root, "one.jsonl"), join(root, "two.jsonl")];
    for (const wanted of ["0197-aa", "FIX THE TEST"]) {
      const error = typedError(await resolveSession(wanted, [root]).catch((one: unknown) => one));
      expect(error.code).toBe("ERR_SESSION_AMBIGUOUS");
      expect(error.candidates.toSorted()).toEqual(candidates);
    }
  });

  it("is searched in files named like an id before others are read", async () => {
    const root = temporaryDirectory();
    const id = "0197aaaa-0000-7000-8000-000000000001";
    write(join(root, `2026_${id}.jsonl`), { id });
    // Were they read, two would fit.
    write(join(root, "copy.jsonl"), { id });
    for (const wanted of [id, "0197aaaa", "0197AAAA-0000"]) {
      expect((await resolveSession(wanted, [root])).path).toBe(join(root, `2026_${id}.jsonl`));
    }
    await expect(resolveSession("0197aaa", [root])).rejects.toMatchObject({
      code: "ERR_SESSION_AMBIGUOUS",
    });
  });

  it("is found by an id that is not in its file name", async () => {
    const root = temporaryDirectory();
    write(join(root, "0197aaaa.jsonl"), { id: "other" });
    write(join(root, "one.jsonl"), { id: "0197aaaa-0000" });
    expect(basename((await resolveSession("0197aaaa", [root])).path)).toBe("one.jsonl");
  });

  it.each(["", "x", "ix the test"])("is none for %j", async (wanted) => {
    const found = resolveSession(wanted, [place()]);
    await expect(found).rejects.toMatchObject({ code: "ERR_SESSION_NOT_FOUND", id: wanted });
  });
});
