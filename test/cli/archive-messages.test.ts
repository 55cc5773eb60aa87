/** Every message about removed, kept or restored sessions names the command that helps. */
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { nodePorts } from "@branchlog/core/testing";
import { keptPlace, piName, write } from "../library/archive/kept-sessions.ts";
import type { KeptPlace } from "../library/archive/kept-sessions.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture } from "./command-run.ts";

let place: KeptPlace;

beforeEach(() => {
  place = keptPlace();
  vi.stubEnv("HOME", temporaryDirectory());
  vi.stubEnv("BRANCHLOG_DATA_DIR", place.dataDir);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const id = piName.replace(/^[^_]*_/, "");

async function lastOperation(): Promise<string> {
  return (await branchlog(["ops", "-n", "1"])).out.split("\t")[0] ?? "";
}

describe("restore of a session that was deleted, not archived", () => {
  it.each([
    ["its path", ({ pi }: KeptPlace) => pi],
    ["the name of its file", () => `${piName}.jsonl`],
    ["its id", () => id],
    ["the beginning of its id", () => id.slice(0, 8)],
  ])("names the undo that restores it, for %s", async (_, wordOf) => {
    const { pi } = place;
    const bytes = readFileSync(pi);
    await branchlog(["delete", pi, "--yes"]);
    const word = wordOf(place);
    const { code, err } = await branchlog(["restore", word]);
    const undo = `branchlog undo ${await lastOperation()}`;
    const message = `No archived session matches ${word}. It was deleted: ${undo} restores it.`;
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
    await branchlog(undo.split(" ").slice(1));
    expect(readFileSync(pi)).toEqual(bytes);
    const again = await branchlog(["restore", pi]);
    expect(again.err).toContain("There is such a file: branchlog info shows it.");
  });

  it("reports when it is no longer kept", async () => {
    const { pi, dataDir } = place;
    await branchlog(["delete", pi, "--yes"]);
    renameSync(join(dataDir, "packs"), join(dataDir, "no-packs"));
    expect((await branchlog(["restore", pi])).err).toContain("branchlog ops lists what is kept");
  });
});

/** Each makes a situation, and gives the command that fails in it, or finds nothing. */
const situations: Readonly<
  Record<string, readonly [(at: KeptPlace) => Promise<string[]> | string[], string]>
> = {
  "restore of what was never archived": [
    () => ["restore", "no-such"],
    "branchlog list --archived shows them, branchlog ops what branchlog undo restores",
  ],
  "restore over another file": [
    async ({ pi }) => {
      await branchlog(["archive", pi]);
      write(pi, "mine\n");
      return ["restore", id];
    },
    "branchlog restore",
  ],
  "restore of a name that several have": [
    async ({ root, pi, omp }) => {
      const other = join(root, "other", `${piName}.jsonl`);
      write(other, readFileSync(pi));
      await branchlog(["archive", pi, other, omp]);
      return ["restore", `${piName}.jsonl`];
    },
    "branchlog list --archived",
  ],
  "restore from a damaged pack": [
    async ({ pi, dataDir }) => {
      await branchlog(["archive", pi]);
      renameSync(join(dataDir, "packs"), join(dataDir, "no-packs"));
      return ["restore", pi];
    },
    "branchlog ops",
  ],
  "restore with a damaged record": [
    async ({ pi, dataDir }) => {
      await branchlog(["archive", pi]);
      truncateSync(join(dataDir, "operations.jsonl"), 0);
      return ["restore", pi];
    },
    "branchlog verify",
  ],
  "archive of a session that just changed": [
    ({ pi }) => {
      utimesSync(pi, new Date(), new Date());
      return ["archive", pi];
    },
    "branchlog archive, delete, prune and mv also take --force",
  ],
  "archive of a link": [
    ({ root, pi }) => {
      symlinkSync(pi, join(root, "link.jsonl"));
      return ["archive", join(root, "link.jsonl")];
    },
    "branchlog archive TARGET",
  ],
  "archive without sessions": [() => ["archive", temporaryDirectory()], "branchlog list"],
  "archive of what Branchlog keeps": [
    async ({ pi, dataDir }) => {
      await branchlog(["archive", pi]);
      return ["archive", join(dataDir, "operations.jsonl"), "--force"];
    },
    "branchlog ops",
  ],
  "archive where nothing can be kept": [
    ({ pi, root }) => {
      vi.stubEnv("BRANCHLOG_DATA_DIR", join(write(join(root, "file"), "x"), "below"));
      return ["archive", pi];
    },
    "set BRANCHLOG_DATA_DIR; then repeat the command: branchlog ops",
  ],
  "a list of an empty archive": [() => ["list", "--archived"], "branchlog ops"],
  "prune of nothing": [({ root }) => ["prune", root, "--keep", "9"], "branchlog list"],
  "delete of what is gone": [({ pi }) => ["delete", `${pi}.x`, "--yes"], "branchlog ops"],
  "delete of a name that is gone": [() => ["delete", "no-such", "--yes"], "branchlog ops"],
  "delete of a directory": [({ root }) => ["delete", root, "--yes"], "branchlog archive"],
  "delete of a link": [
    ({ root, pi }) => {
      symlinkSync(pi, join(root, "link.jsonl"));
      return ["delete", join(root, "link.jsonl"), "--yes"];
    },
    "branchlog delete",
  ],
  "delete of a text": [
    ({ root }) => ["delete", write(join(root, "text.jsonl"), "hello\n"), "--yes"],
    "branchlog repair",
  ],
  "mv to no directory": [({ root }) => ["mv", root, join(root, "none")], "then run branchlog mv"],
  "mv to the same directory": [({ root }) => ["mv", root, root], "both are the same directory"],
  "mv of nothing": [({ root }) => ["mv", root, temporaryDirectory()], "branchlog list"],
  "mv to a place that is taken": [
    () => {
      const home = process.env["HOME"] ?? "";
      vi.stubEnv("PI_CODING_AGENT_DIR", "");
      const [from, to] = [join(home, "shop"), temporaryDirectory()];
      const header = { type: "session", version: 3, id: "x", timestamp: "2026-01-01T00:00:00Z" };
      const pathIn = (cwd: string): string =>
        join(home, ".pi/agent/sessions", `--${cwd.slice(1).replaceAll("/", "-")}--`, "t_x.jsonl");
      write(pathIn(from), `${JSON.stringify({ ...header, cwd: from })}\n`);
      write(pathIn(to), "mine\n");
      return ["mv", from, to];
    },
    "branchlog mv",
  ],
  "undo of nothing": [() => ["undo"], "branchlog ops"],
  "undo of what was undone": [
    async ({ pi }) => {
      await branchlog(["delete", pi, "--yes"]);
      const operation = await lastOperation();
      await branchlog(["undo"]);
      return ["undo", operation];
    },
    "branchlog undo",
  ],
  "undo where another file is": [
    async ({ pi }) => {
      await branchlog(["delete", pi, "--yes"]);
      write(pi, "mine\n");
      return ["undo"];
    },
    "move that away, then branchlog undo",
  ],
  "undo of what is no longer kept": [
    async ({ pi, dataDir }) => {
      await branchlog(["delete", pi, "--yes"]);
      renameSync(join(dataDir, "packs"), join(dataDir, "no-packs"));
      return ["undo"];
    },
    "branchlog ops",
  ],
  "undo of a restore of what changed since": [
    async ({ pi }) => {
      await branchlog(["archive", pi]);
      await branchlog(["restore", pi]);
      appendFileSync(pi, "more\n");
      return ["undo"];
    },
    "branchlog archive or delete",
  ],
  "undo of a migration of what changed since": [
    async ({ root }) => {
      const old = join(root, "old.jsonl");
      mkdirSync(dirname(old), { recursive: true });
      copyFileSync(fixture("pi-v1.jsonl"), old);
      await branchlog(["migrate", old]);
      writeFileSync(old, "mine\n");
      return ["undo"];
    },
    "shows it as it was before",
  ],
};

describe("a message of", () => {
  it.each(Object.keys(situations))("%s names a remedy", async (name) => {
    const [make, advice] = situations[name] ?? [() => [], ""];
    const { err } = await branchlog(await make(place));
    expect(err).toContain(advice);
    expect(err).toMatch(/branchlog [a-z]+/);
  });

  it.each(["delete", "archive"])("a held lock names a remedy: %s", async (command) => {
    const { pi } = place;
    const held = nodePorts.lock.tryAcquireSync(pi);
    const words = command === "delete" ? ["delete", pi, "--yes"] : ["archive", pi];
    const { code, err } = await branchlog(words);
    held?.releaseSync();
    expect([code, err]).toEqual([1, expect.stringContaining("take --force")]);
  });
});
