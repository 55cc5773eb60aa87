/** What the bundled command loads: the time that a short command takes is that of its modules. */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commands } from "../../packages/cli/src/commands.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { fixture } from "./command-run.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

let home: string;
let bundle: string;

beforeAll(() => {
  home = mkdtempSync(join(realpathSync(tmpdir()), "branchlog-bundle-"));
  bundle = join(home, "bundle");
  copyFileSync(join(root, "packages/branchlog/package.json"), join(home, "package.json"));
  const made = spawnSync(process.execPath, [join(root, "scripts/bundle.mjs"), bundle], {
    encoding: "utf8",
  });
  expect(`${made.stdout}${made.stderr}`).toBe("");
});

afterAll(() => {
  rmSync(home, { recursive: true, force: true });
});

interface Loaded {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** Files of the bundle, without the hashes in their names. */
  readonly files: readonly string[];
  readonly bytes: number;
}

/** Nothing is installed next to the bundle. */
function loadedBy(...words: string[]): Loaded {
  const directory = temporaryDirectory();
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(bundle, "main.js"), ...words],
    { encoding: "utf8", env: { HOME: home, NODE_V8_COVERAGE: directory } },
  );
  const urls = readdirSync(directory).flatMap((name) => {
    const text = readFileSync(join(directory, name), "utf8");
    return Array.from(text.matchAll(/"url":"(file:[^"]+)"/g), ([, url = ""]) => url);
  });
  const paths = urls.map((url) => fileURLToPath(url));
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  const files = paths.map((path) =>
    path.slice(bundle.length + 1).replace(/-[\w-]{8}\.js$/u, ".js"),
  );
  return { code: status, out: stdout, err: stderr, files, bytes };
}

it("the bundle is JavaScript that this Node compiles, whichever command loads it", () => {
  const modules = readdirSync(bundle).filter((name) => name.endsWith(".js"));
  expect(modules.some((name) => name.startsWith("store"))).toBe(true);
  const refused = modules.filter(
    (name) => spawnSync(process.execPath, ["--check", join(bundle, name)]).status !== 0,
  );
  expect(refused).toEqual([]);
});

describe("the bundled command", () => {
  it.each(["--version", "-V"])("reads one file of 2 kB for %s", (word) => {
    const { code, out, files, bytes } = loadedBy(word);
    expect([code, out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
    expect(files).toEqual(["main.js"]);
    expect(bytes).toBeLessThan(2_000);
  });

  it.each([
    ["--help"],
    ["help", "list"],
    ["list", "--help"],
    ["completion", "zsh"],
    ["--complete", "li"],
  ])("loads neither the parser nor the engine for %s %s", (...words) => {
    const { code, err, files, bytes } = loadedBy(...words);
    expect([code, err]).toEqual([0, ""]);
    expect(files.length).toBeLessThan(12);
    expect(bytes).toBeLessThan(60_000);
  });

  it("loads less than half of its code for a list", () => {
    const { code, err, files, bytes } = loadedBy("list", fixture("claude"));
    const all = readdirSync(bundle).reduce(
      (sum, name) => sum + statSync(join(bundle, name)).size,
      0,
    );
    expect([code, err]).toEqual([0, ""]);
    expect(bytes).toBeLessThan(Math.min(421_000, all / 2));
    // What it does not need: changes, appends, YAML.
    expect(files.filter((name) => /^(?:log-watch|engine|open|src)\.js$/u.test(name))).toEqual([]);
  });

  it("needs no other package for any kind of command", () => {
    expect(loadedBy("info", fixture("pi-branches.jsonl"))).toMatchObject({ code: 0, err: "" });
    expect(loadedBy("turns", fixture("connectonion-dumped.yaml"))).toMatchObject({
      code: 0,
      err: "",
    });
    expect(loadedBy("tail", fixture("pi-branches.jsonl"))).toMatchObject({ code: 0, err: "" });
    expect(loadedBy("search", "cache", fixture("pi-branches.jsonl"))).toMatchObject({ code: 0 });
    expect(loadedBy("mcp")).toMatchObject({ code: 0, out: "", err: "" });
    expect(loadedBy("lits")).toMatchObject({ code: 2 });
    expect(loadedBy("entries", "f", "--nope").err).toContain("Unknown option: --nope");
    expect(loadedBy("entries", "f", "--on", "both").err).toContain("Choices");
  });

  it("loads the protocol of agents only for mcp", () => {
    const isLoaded = (...words: string[]): boolean =>
      loadedBy(...words).files.some((file) => /^mcp\.js$/u.test(file));
    expect(isLoaded("mcp")).toBe(true);
    expect(isLoaded("search", "cache", fixture("pi-branches.jsonl"))).toBe(false);
  });

  it("has a manual page with every command and option", () => {
    const page = readFileSync(join(bundle, "branchlog.1"), "utf8");
    for (const { name, options } of commands) {
      const start = page.search(new RegExp(`^\\.SS "branchlog ${name}[ "]`, "m"));
      const section = page.slice(start, page.indexOf("\n.S", start + 1));
      expect(start).toBeGreaterThan(0);
      for (const option of Object.keys(options)) {
        expect(section).toContain(`\\-\\-${option.replaceAll("-", "\\-")}`);
      }
    }
    // No text is taken as a request.
    const requests = page.split("\n").filter((line) => /^[.']/u.test(line));
    for (const line of requests) expect(line).toMatch(/^\.(?:TH|SH|SS|TP|PP|B)(?: |$)/u);
  });

  it("has the licences of the packages that it contains", () => {
    const text = readFileSync(join(bundle, "licences.txt"), "utf8");
    for (const name of ["rxjs", "stream-json", "yaml", "zod"]) {
      expect(text).toMatch(new RegExp(`^${name} \\d`, "m"));
    }
  });
});
