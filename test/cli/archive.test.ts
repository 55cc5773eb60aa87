/** The commands that remove sessions, bring them back, and show those that are archived. */
import { appendFileSync, copyFileSync, existsSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keptPlace, ledgerOf, piName, write } from "../library/archive/kept-sessions.ts";
import type { KeptPlace } from "../library/archive/kept-sessions.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines, onTerminal } from "./command-run.ts";

let place: KeptPlace;

beforeEach(() => {
  place = keptPlace();
  vi.stubEnv("HOME", temporaryDirectory());
  vi.stubEnv("BRANCHLOG_DATA_DIR", place.dataDir);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe("archived sessions", () => {
  it("are listed, searched, shown by name, id and path, and restored", async () => {
    const { root, pi } = place;
    const before = ledgerOf(root);
    const tree = (await branchlog(["tree", pi])).out;
    const { out } = await branchlog(["archive", root]);
    expect(out).toMatch(/^archived 3 sessions, \d+ kB in [\d.]+ kB\nto undo it: /);
    expect(ledgerOf(root)).toEqual({});

    const listed = (await branchlog(["list", "--archived", "--json"])).out;
    expect(jsonLines(listed)).toHaveLength(3);
    for (const one of jsonLines(listed)) {
      expect(one).toMatchObject({
        kind: "session",
        depth: 0,
        archived: expect.stringMatching(/Z$/) as unknown,
        sha256: expect.stringMatching(/^[\da-f]{64}$/) as unknown,
      });
    }
    const sorted = await branchlog(["list", "--archived", "--sort", "size", "--json", "-n", "1"]);
    const sizes = jsonLines(listed).map((one) => (one as { sizeBytes: number }).sizeBytes);
    expect(jsonLines(sorted.out)).toMatchObject([{ sizeBytes: Math.max(...sizes) }]);
    const { out: records } = await branchlog(["list", "--archived", "--agent", "pi"]);
    const [id = "", agent, , , , title, , path] = records.trimEnd().split("\t");
    expect([agent, title, path]).toEqual(["pi", "Fix the login test", pi]);
    expect((await onTerminal(["list", "--archived"])).out).toContain("Fix the login test");
    expect((await branchlog(["list", "--archived", "--since", "2027-01-01"])).err).toContain(
      "no archived sessions match",
    );

    for (const word of [pi, id, id.slice(0, 8)]) {
      const shown = await branchlog(["tree", word]);
      expect(shown.out).toBe(tree);
      expect(shown.err).toBe(`archived: branchlog restore restores ${pi}\n`);
    }
    const found = await branchlog(["search", "login", "--archived", "--json"]);
    expect(jsonLines(found.out)).toContainEqual(expect.objectContaining({ path: pi }));
    expect((await branchlog(["search", "no such text", "--archived"])).code).toBe(1);
    expect((await branchlog(["export", pi, "--to", "markdown"])).out).toContain("login");

    const refused = await branchlog(["append", id, "--user", "more"]);
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining(`${pi} is archived. branchlog restore ${id} restores it.`),
    ]);
    for (const { path: one } of jsonLines(listed) as { path: string }[]) {
      expect((await branchlog(["restore", one])).out).toBe(`restored  ${one}\n`);
    }
    expect(ledgerOf(root)).toEqual(before);
  });

  it("are left in place when they just changed, and the exit code reports it", async () => {
    const { pi, omp } = place;
    utimesSync(pi, new Date(), new Date());
    const { code, out, err } = await branchlog(["archive", pi, omp]);
    expect([code, existsSync(pi), existsSync(omp)]).toEqual([1, true, false]);
    expect(out).toContain("archived 1 session, ");
    expect(err).toMatch(/not changed: it changed \d+ s ago/);
    expect((await branchlog(["archive", pi, "--force"])).code).toBe(0);
  });

  it("are restored as a copy, and stay archived", async () => {
    const { pi } = place;
    const bytes = readFileSync(pi);
    await branchlog(["archive", pi]);
    const copy = join(temporaryDirectory(), "copy.jsonl");
    await branchlog(["restore", `${piName}.jsonl`, "-o", copy]);
    expect(readFileSync(copy)).toEqual(bytes);
    const again = await branchlog(["restore", `${piName}.jsonl`, "-o", copy]);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining("ERR_LOG_EXISTS")]);
    expect((await branchlog(["list", "--archived"])).out).toContain(pi);
  });
});

describe("prune", () => {
  it("lists what it would archive, and archives it with --yes", async () => {
    const { root, pi, omp, claude } = place;
    const before = ledgerOf(root);
    const { out, err } = await branchlog(["prune", root, "--keep", "1"]);
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    expect(err).toMatch(/^2 sessions, [\d.]+ kB; --yes archives them\n$/);
    expect(ledgerOf(root)).toEqual(before);
    const { code } = await branchlog(["prune", root, "--keep", "1", "--yes"]);
    expect(code).toBe(0);
    const left = [pi, omp, claude].filter((path) => existsSync(path));
    expect(left).toHaveLength(1);
    expect((await branchlog(["prune", root, "--keep", "1"])).err).toContain("nothing to prune");
    const [last] = jsonLines((await branchlog(["ops", "--json"])).out);
    expect(last).toMatchObject({ kind: "prune" });
    await branchlog(["undo"]);
    expect(ledgerOf(root)).toEqual(before);
  });

  it("counts age, size and agents, and keeps what it removes for 30 days with --trash", async () => {
    const { root, omp } = place;
    const shown = async (...words: string[]): Promise<string[]> => {
      const { out } = await branchlog(["prune", root, ...words]);
      return out.split("\n").slice(0, -1);
    };
    expect(await shown("--older-than", "2020-01-01")).toEqual([]);
    expect(await shown("--older-than", "2027-01-01")).toHaveLength(3);
    expect(await shown("--keep-size", "1TB")).toEqual([]);
    expect(await shown("--keep-size", "0.1kB")).toHaveLength(3);
    expect(await shown("--keep", "0", "--agent", "omp")).toHaveLength(1);
    await branchlog(["prune", root, "--keep", "0", "--agent", "omp", "--trash", "--yes"]);
    expect(existsSync(omp)).toBe(false);
    expect((await branchlog(["list", "--archived"])).out).toBe("");
    await branchlog(["undo"]);
    expect(existsSync(omp)).toBe(true);
    for (const words of [[], ["--keep", "-1"], ["--keep-size", "much"]]) {
      expect((await branchlog(["prune", root, ...words])).code).toBe(2);
    }
  });
});

describe("undo and ops", () => {
  it("list and undo operations, the last first", async () => {
    const { root, pi, omp } = place;
    const old = join(root, "old.jsonl");
    copyFileSync(fixture("pi-v1.jsonl"), old);
    appendFileSync(omp, '{"type":"mess');
    write(omp, readFileSync(omp));
    const before = ledgerOf(root);
    await branchlog(["delete", pi, "--yes"]);
    await branchlog(["migrate", old]);
    await branchlog(["repair", omp, "--apply"]);
    const { out } = await branchlog(["ops"]);
    const kinds = out.split("\n").map((line) => line.split("\t")[2]);
    expect(kinds.slice(0, 3)).toEqual(["repair", "migrate", "delete"]);
    expect((await onTerminal(["ops", "-n", "1"])).out).toContain("repair");
    for (const kind of ["repair", "migrate", "delete"]) {
      expect((await branchlog(["undo"])).out).toMatch(new RegExp(`^undone: ${kind} `));
    }
    const salvage = `${omp}.salvage`;
    expect({ ...ledgerOf(root), [salvage]: undefined }).toEqual({
      ...before,
      [salvage]: undefined,
    });
    const nothing = await branchlog(["undo"]);
    expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining("nothing to undo")]);
    expect((await branchlog(["ops"])).out.split("\n")[0]).toContain("undo");
  });

  it("report that there are no operations yet", async () => {
    expect((await branchlog(["ops"])).err).toBe("no operations removed or replaced sessions\n");
  });
});

it.each([
  ["append", ["--user", "more"]],
  ["name", ["A name"]],
])(
  "a migration by another command is reported by %s, with the path of the original",
  async (command, words) => {
    const path = join(temporaryDirectory(), "old.jsonl");
    copyFileSync(fixture("pi-v1.jsonl"), path);
    const { err } = await branchlog([command, path, ...words]);
    expect(err).toBe(`migrated from version 1; the original is ${path}.v1-original\n`);
    expect((await branchlog([command, path, ...words])).err).toBe("");
  },
);

it("mv lists sessions, moves them, and undo restores them", async () => {
  const home = process.env["HOME"] ?? "";
  const [from, to] = [join(home, "shop"), temporaryDirectory()];
  vi.stubEnv("PI_CODING_AGENT_DIR", "");
  const name = `--${from.slice(1).replaceAll("/", "-")}--`;
  const header = { type: "session", version: 3, id: "x", timestamp: "2026-01-01T00:00:00Z" };
  const path = join(home, ".pi/agent/sessions", name, "t_x.jsonl");
  write(path, `${JSON.stringify({ ...header, cwd: from })}\n`);
  const before = ledgerOf(home);
  const dry = await branchlog(["mv", from, to, "--dry-run"]);
  expect(dry.err).toBe("would be moved: 1 session\n");
  expect(ledgerOf(home)).toEqual(before);
  const { out } = await branchlog(["mv", from, to, "--json"]);
  expect(jsonLines(out)).toMatchObject([{ moved: [{ from: path, agent: "pi", cwd: to }] }]);
  expect(existsSync(path)).toBe(false);
  await branchlog(["undo"]);
  expect(ledgerOf(home)).toEqual(before);
  const missing = await branchlog(["mv", from, join(to, "none")]);
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining("it does not exist")]);
});
