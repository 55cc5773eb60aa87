/** `branchlog list`, `fork`, `convert`, `migrate` and `delete`: what they say and how they end. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { writeSessionFile } from "@branchlog/bench/generator";
import { openSession } from "@branchlog/core";
import { displayWidth } from "../../packages/cli/src/text/display-width.ts";
import { runs } from "../support/fault-seed.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { runProcess } from "./command-process.ts";
import { branchlog, fixture, jsonLines, MemoryOutput } from "./command-run.ts";

const variables = ["HOME", "PI_CODING_AGENT_DIR", "XDG_DATA_HOME", "OMP_PROFILE", "PATH"] as const;
let home = "";

/** A home without agents, and no trash. */
beforeEach(() => {
  for (const name of variables) vi.stubEnv(name, undefined);
  home = temporaryDirectory();
  vi.stubEnv("HOME", home);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

function line(id: string, fields: object): string {
  const stamp = { timestamp: "2025-12-31T12:00:00.000Z" };
  return `${JSON.stringify({ type: "session", version: 3, id, ...stamp, cwd: "/w", ...fields })}\n`;
}

function write(path: string, ...texts: readonly string[]): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, texts.join(""));
  return path;
}

function message(text: string): string {
  const body = { role: "user", content: text, timestamp: Date.UTC(2025, 11, 31, 21) };
  return `${JSON.stringify({ type: "message", id: "1", parentId: null, timestamp: "t", message: body })}\n`;
}

describe("list", () => {
  it("shows names, forks under their parents, agents, and missing parents", async () => {
    const root = temporaryDirectory();
    const parent = write(join(root, "a.jsonl"), line("parent", {}), message("first \u001B[2J"));
    write(join(root, "b.jsonl"), line("fork", { parentSession: parent, title: "The fork" }));
    write(join(root, "c.jsonl"), line("lost", { cwd: "/v", parentSession: "/gone/x.jsonl" }));
    write(join(root, "p/.co/sessions/oo.yaml"), "name: oo\nturns:\n- turn: 1\n  input: hello\n");
    const terminal = new MemoryOutput({ columns: 100, isTerminal: true });
    const { code, err } = await branchlog(["list", root], { out: terminal });
    const out = terminal.text;
    expect([code, err]).toEqual([0, ""]);
    const groups = out.split("\n\n");
    expect(groups.map((group) => group.split("\n")[0])).toEqual(
      expect.arrayContaining(["/w", "/v", join(root, "p")]),
    );
    expect(out).toMatch(
      /^\/w\n {2}first \uFFFD\[2J {2,}3 h {3}1 message {3}\d+ bytes {2}pi {12}parent$/m,
    );
    expect(out).toMatch(/parent\n {4}The fork {2,}12 h {2}0 messages {2}.* {2}omp {11}fork$/m);
    expect(out).toMatch(/pi {12}lost\n {4}fork of x\.jsonl, which is not listed$/m);
    expect(out).toMatch(/^ {2}oo {2}.* {2}1 message {2}.* {2}connectonion {2}oo$/m);
  });

  it("ends after the latest of sessions and documents together", async () => {
    const root = temporaryDirectory();
    const file = write(join(root, "a.jsonl"), line("session", {}), message("hello"));
    const agents = join(root, ".co/sessions");
    write(join(agents, "late.yaml"), "name: late\ncreated: '2026-01-02 00:00:00'\nturns: []\n");
    write(join(agents, "early.yaml"), "name: early\ncreated: '2025-01-02 00:00:00'\nturns: []\n");
    const listed = async (limit: number): Promise<unknown> =>
      jsonLines((await branchlog(["list", root, "--json", "-n", String(limit)])).out);
    expect(await listed(1)).toMatchObject([{ name: "late" }]);
    expect(await listed(2)).toMatchObject([{ name: "late" }, { path: file }]);
  });

  it("does not report a parent excluded by a limit as missing", async () => {
    const root = temporaryDirectory();
    const parent = write(join(root, "a.jsonl"), line("parent", {}));
    write(join(root, "b.jsonl"), line("fork", { parentSession: parent }), message("later"));
    const out = new MemoryOutput({ columns: 100, isTerminal: true });
    await branchlog(["list", root, "--limit", "1"], { out });
    expect(out.text).toContain("fork of a.jsonl, which is not listed\n");
  });

  it("prints one line of complete, tab-separated fields per session in a pipe", async () => {
    const root = temporaryDirectory();
    const title = `a\t${"long ".repeat(100)}title`;
    const path = write(join(root, "a.jsonl"), line("id-1", {}), message(title));
    write(join(root, "oo.yaml"), "name: oo\nturns: []\n");
    const { out } = await branchlog(["list", root], { columns: 40 });
    const [agent, session] = out.split("\n").map((one) => one.split("\t"));
    const [time, size] = ["2025-12-31T21:00:00.000Z", String(readFileSync(path).length)];
    expect(session).toEqual(["id-1", "pi", time, "1", size, title.replace("\t", " "), "/w", path]);
    expect(agent?.slice(0, 2)).toEqual(["oo", "connectonion"]);
  });

  it.each([80, 100, 60])("fits its columns to the terminal: %s", async (columns) => {
    const root = temporaryDirectory();
    const titles = ["修复登录测试，这是一个很长的标题".repeat(4), "x".repeat(200), "👍🏽 e\u0301"];
    for (const [at, title] of titles.entries()) {
      const head = line(`0197-${at}${"f".repeat(30)}`, {
        parentSession: "/gone/y.jsonl".repeat(9),
      });
      write(join(root, `${at}.jsonl`), head, message(title));
    }
    const out = new MemoryOutput({ columns, isTerminal: true });
    await branchlog(["list", root], { out });
    const lines = out.text.trimEnd().split("\n");
    for (const one of lines) expect(displayWidth(one)).toBeLessThanOrEqual(columns);
    const aged = lines.filter((one) => one.includes("3 h"));
    const starts = aged.map((one) => displayWidth(one.slice(0, one.indexOf("3 h"))));
    expect(starts).toHaveLength(3);
    expect(new Set(starts).size).toBe(1);
    // As much of each id as tells it from the others, and eight characters at least.
    expect(out.text).toMatch(/ {2}0197-0ff$/m);
  });

  it("prints one line of JSON for each", async () => {
    const root = temporaryDirectory();
    const path = write(join(root, "a.jsonl"), line("a", { parentSession: "gone" }), message("x"));
    write(join(root, "oo.yaml"), "name: oo\nturns: []\n");
    const { out } = await branchlog(["list", root, "--json"]);
    expect(jsonLines(out)).toEqual([
      expect.objectContaining({ kind: "session", id: "oo", name: "oo", agent: "connectonion" }),
      {
        kind: "session",
        path,
        id: "a",
        cwd: "/w",
        agent: "pi",
        created: "2025-12-31T12:00:00.000Z",
        modified: "2025-12-31T21:00:00.000Z",
        messageCount: 1,
        firstMessage: "x",
        sizeBytes: readFileSync(path).length,
        models: [],
        requests: 0,
        tokens: 0,
        input: 0,
        output: 0,
        cacheRead: 0,
        cacheWrite: 0,
        cost: null,
        depth: 0,
        parent: { reference: "gone", path: null },
      },
    ]);
  });

  it("list shows the sessions of the agents on this machine, and reports when there are none", async () => {
    const none = await branchlog(["list"]);
    expect([none.code, none.out]).toEqual([0, ""]);
    const [where, agents] = none.err.split("\n");
    expect(where).toBe("no sessions in the places where agents keep them");
    for (const name of ["pi", "Claude Code", "opencode", "Cursor"]) expect(agents).toContain(name);
    write(join(home, ".pi/agent/sessions/--w--/a.jsonl"), line("pi", {}));
    write(join(home, ".omp/agent/sessions/-w/b.jsonl"), line("omp", { title: "T" }));
    write(join(home, ".omp/agent/sessions/-w/b/sub.jsonl"), line("sub", { title: "Sub" }));
    const ids = (out: string): string[] => {
      const sessions = jsonLines(out) as { id: string }[];
      return sessions.map(({ id }) => id).sort();
    };
    expect(ids((await branchlog(["list", "--json"])).out)).toEqual(["omp", "pi"]);
    expect(ids((await branchlog(["list", "--all", "--json"])).out)).toHaveLength(3);
    const missing = await branchlog(["list", join(home, "gone"), "--json"]);
    expect(missing.code).toBe(1);
    expect(jsonLines(missing.err)).toMatchObject([{ error: { code: "ERR_LOG_MISSING" } }]);
  });
});

it("a name or id is resolved among the sessions of the agents", async () => {
  const directory = join(home, ".pi/agent/sessions/--w--");
  const path = write(join(directory, "a.jsonl"), line("0197-a", { title: "The one" }));
  write(join(directory, "b.jsonl"), line("0197-b", {}));
  expect((await branchlog(["info", "The one"])).out).toContain(path);
  const alone = await branchlog(["list", "The one", "--json"]);
  expect(jsonLines(alone.out)).toMatchObject([{ path, depth: 0 }]);
  const { err } = await branchlog(["info", "nobody"]);
  expect(err).toMatch(/no file nobody here, and no session .*\(ERR_SESSION_NOT_FOUND\)/u);
});

it("fork reports the new session, with --json in full", async () => {
  const root = temporaryDirectory();
  const source = fixture("pi-branches.jsonl");
  const output = join(root, "fork.jsonl");
  const words = ["fork", source, "--at", "5b2e9d04", "-o", output];
  expect(await branchlog(words)).toEqual({
    code: 0,
    out: `forked 4 entries up to 5b2e9d04\n${output}\n`,
    err: "",
  });
  const again = await branchlog([...words, "--json"]);
  expect(jsonLines(again.err)).toMatchObject([{ error: { code: "ERR_LOG_EXISTS" } }]);
  const other = await branchlog(["fork", output, "--json"]);
  expect(jsonLines(other.out)).toMatchObject([{ source: output, at: "5b2e9d04", entries: 4 }]);
});

it("convert reports the changes", async () => {
  const root = temporaryDirectory();
  const target = join(root, "omp.jsonl");
  const words = ["convert", fixture("pi-labels-and-names.jsonl"), "--to", "omp", "-o", target];
  const { code, out } = await branchlog(words);
  expect([code, out]).toEqual([0, `converted 15 entries for omp: session_info 3\n${target}\n`]);
  const back = await branchlog([
    "convert",
    target,
    "--to",
    "pi",
    "-o",
    join(root, "pi.jsonl"),
    "--json",
  ]);
  expect(jsonLines(back.out)).toMatchObject([{ converted: { title_change: 3 }, addedName: false }]);
});

it("convert reports an added name and copied damage", async () => {
  const root = temporaryDirectory();
  const source = write(join(root, "s.jsonl"), line("s", { title: "T" }), "{torn\n");
  const { out } = await branchlog(["convert", source, "--to", "pi", "-o", join(root, "t.jsonl")]);
  expect(out).toContain("converted 0 entries for pi: no entries changed\n");
  expect(out).toContain("added an entry with the name\ncopied 1 damaged line unchanged\n");
});

it("convert copies a session of any size in bounded memory (Verifies: P16)", async () => {
  const root = temporaryDirectory();
  const source = join(root, "large.jsonl");
  writeSessionFile(source, { bytes: runs(50_000_000, 100_000_000) });
  const words = ["convert", source, "--to", "omp", "-o", join(root, "omp.jsonl")];
  const nodeArguments = ["--max-old-space-size=32"];
  expect(await runProcess(words, { nodeArguments })).toMatchObject({ code: 0, err: "" });
});

it("migrate prints the path of the original, or that there is nothing to do", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  copyFileSync(fixture("pi-v2.jsonl"), path);
  const { out } = await branchlog(["migrate", path]);
  const original = `${path}.v2-original`;
  const said = `migrated   ${path}, from version 2 to 3\noriginal   ${original}\n`;
  expect(out.startsWith(`${said}to undo it: branchlog undo `)).toBe(true);
  expect((await branchlog(["migrate", path])).out).toBe(`${path} has version 3: nothing to do\n`);
  const { out: json } = await branchlog(["migrate", path, "--json"]);
  const { size: sizeBytes } = statSync(path);
  const nothing = { original: null, sizeBytes, operation: null };
  expect(jsonLines(json)).toEqual([{ path, version: 3, migrated: false, ...nothing }]);
});

describe("delete", () => {
  function session(): string {
    return write(join(temporaryDirectory(), "s.jsonl"), line("s", {}));
  }

  it("delete asks, and treats every answer except yes as no", async () => {
    const path = session();
    for (const answer of ["n\n", "\n", "", "yes please\n"]) {
      const { code, out, err } = await branchlog(["delete", path], {
        isInteractive: true,
        input: [answer],
      });
      expect([code, out]).toEqual([0, ""]);
      const described = `  (no messages)  pi  ${statSync(path).size} bytes\n    ${path}\n`;
      const question = "Delete 1 session? (For 30 days, branchlog undo restores them.) [y/N] ";
      expect(err).toBe(`${described}${question}nothing was deleted\n`);
    }
    expect(existsSync(path)).toBe(true);
    const options = { isInteractive: true, input: ["Y", "es\nmore"] };
    const { out } = await branchlog(["delete", path], options);
    expect(out).toMatch(/^deleted {2}\S+\nto undo it: branchlog undo [\w-]{36}\n$/);
    expect(existsSync(path)).toBe(false);
  });

  it("delete lists the sessions that it would delete", async () => {
    const [named, spoken] = ["pi-labels-and-names", "omp-18"].map((name) => {
      const path = join(temporaryDirectory(), `${name}.jsonl`);
      copyFileSync(fixture(`${name}.jsonl`), path);
      return path;
    }) as [string, string];
    const asked = { isInteractive: true, input: ["n\n"] };
    const { err } = await branchlog(["delete", named, spoken], asked);
    expect(err).toContain("Delete 2 sessions? (For 30 days, branchlog undo restores them.) [y/N]");
    const permanent = await branchlog(["delete", named, "--permanent"], asked);
    expect(permanent.err).toContain("Permanently delete 1 session? [y/N]");
    const [title = "", path] = err.split("\n");
    expect(title).toContain((await openSession(named, { access: "read" })).name);
    expect(path).toBe(`    ${named}`);
    expect(err).toMatch(/ {2}omp {2}/);
    expect(readFileSync(named).length).toBeGreaterThan(0);
  });

  it("delete requires --yes when standard input is not a terminal", async () => {
    const path = session();
    const { code, err } = await branchlog(["delete", path], { input: ["y\n"] });
    expect(code).toBe(2);
    expect(err).toContain("give --yes");
    expect(existsSync(path)).toBe(true);
    expect((await branchlog(["delete", path, "-y"])).code).toBe(0);
  });

  it("delete removes several sessions, each once, and lists the kept files", async () => {
    const [one, two] = [session(), session()];
    write(`${one}.v1-original`, "original");
    const { out } = await branchlog(["delete", one, "--yes", one, "--json", "--", two]);
    const operation: unknown = expect.stringMatching(/^[\w-]{36}$/);
    expect(jsonLines(out)).toEqual([
      { path: one, id: "s", how: "trash", operation, removed: [], kept: [`${one}.v1-original`] },
      { path: two, id: "s", how: "trash", operation, removed: [], kept: [] },
    ]);
    const third = session();
    write(`${third}.salvage`, "salvage");
    const text = (await branchlog(["delete", third, "--yes", "--permanent"])).out;
    expect(text).toBe(`permanently deleted  ${third}\nkept  ${third}.salvage\n`);
  });

  it("delete rejects a session with an active writer, unless it is forced", async () => {
    const path = session();
    mkdirSync(`${path}.branchlog-lock`);
    const { code, err } = await branchlog(["delete", path, "--yes", "--json"]);
    expect(code).toBe(1);
    expect(jsonLines(err)).toMatchObject([{ error: { code: "ERR_SESSION_BUSY", path } }]);
    expect((await branchlog(["delete", path, "--yes", "--force"])).code).toBe(0);
  });

  it("delete accepts a name or an id of a session", async () => {
    const directory = join(home, ".pi/agent/sessions/--w--");
    const path = write(join(directory, "a.jsonl"), line("0197-a", {}));
    expect((await branchlog(["delete", "0197-a", "--yes"])).out).toContain(path);
    const { err } = await branchlog(["delete", "0197-a", "--yes"]);
    expect(err).toContain("ERR_SESSION_NOT_FOUND");
  });
});

it.each([
  ["fork", "-o", "-"],
  ["fork", "--output="],
  ["convert", "--to", "omp", "-o", "-"],
  ["convert", "--to", "omp", "--output=-"],
  ["repair", "--output", "-"],
])(
  "a new session to standard output is rejected, and no file is created: %s %s %s %s",
  async (name, ...options) => {
    const { code, err } = await branchlog([name, fixture("pi-branches.jsonl"), ...options]);
    expect(code).toBe(2);
    expect(err).toContain("Specify the output: -o FILE");
    expect(existsSync("-")).toBe(false);
  },
);
