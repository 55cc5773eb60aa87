/** Sessions of the Claude Agent SDK as files: what commands show, and what faults leave. */
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";
import { openSession } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { nodePorts } from "@branchlog/core/testing";
import { operations, undoOperation } from "@branchlog/library";
import { claudeSessionStore } from "@branchlog/sdks/claude";
import { branchlog, jsonLines } from "../../cli/command-run.ts";
import { fileError } from "@branchlog/core/testing";
import { rejection, typedError } from "../../support/typed-errors.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { key, sessionId, turn } from "./transcripts.ts";

const script = fileURLToPath(new URL("appending-process.mjs", import.meta.url));
const at = (directory: string): string => join(directory, key.projectKey, `${sessionId}.jsonl`);
const entry = (uuid: string): SessionStoreEntry => ({ type: "user", uuid, sessionId });

/** A real process; resolves once it has ended, with what it was told is there. */
function appending(words: readonly string[], killAfter = Infinity): Promise<readonly number[]> {
  const child = spawn(process.execPath, [script, ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said.split("\n").length > killAfter) child.kill("SIGKILL");
  });
  return new Promise((resolve) => {
    child.on("close", () => resolve(said.split("\n").slice(0, -1).map(Number)));
  });
}

describe("a session of the Claude Agent SDK in a directory", () => {
  it("is a session of Claude Code for every command", async () => {
    const directory = temporaryDirectory();
    const store = claudeSessionStore(directory);
    const first = turn("Why is the build red?", "A test fails.", null);
    await store.append(key, first);
    await store.append(key, turn("Fix the compiler", "Done.", first[1]?.uuid ?? null));
    const agent = turn("Count the files", "Seven.", null).map((one) => {
      return { ...one, isSidechain: true, agentId: "a1" };
    });
    await store.append({ ...key, subpath: "subagents/agent-a1" }, agent);
    const run = async (...words: string[]) => (await branchlog(words)).out;
    const listed = await run("list", directory, "--json");
    expect(jsonLines(listed)).toContainEqual(
      expect.objectContaining({ id: sessionId, cwd: "/work/app" }),
    );
    expect(await run("info", at(directory))).toContain("agent\tclaude");
    expect(await run("turns", at(directory))).toMatch(/Why is the build red\?[^]*Fix the compiler/);
    expect(await run("tree", at(directory))).toContain("Fix the compiler");
    expect(await run("search", "seven", directory)).toContain("Seven.");
  });

  it("is archived with its subagents, and restored", async () => {
    const [directory, dataDir] = [temporaryDirectory(), temporaryDirectory()];
    const store = claudeSessionStore(directory, { dataDir });
    await store.append(key, turn("Hi", "Hello.", null));
    await store.append({ ...key, subpath: "subagents/agent-a1" }, [entry("a")]);
    const before = await store.load(key);
    await store.delete(key);
    expect(await store.load(key)).toBeNull();
    expect(await store.listSubkeys(key)).toEqual([]);
    expect(await operations({ dataDir })).toMatchObject([{ kind: "archive" }]);
    await undoOperation(undefined, { dataDir });
    expect(await store.load(key)).toEqual(before);
    expect(await store.listSubkeys(key)).toEqual(["subagents/agent-a1"]);
  });

  it("does not join an entry to the rest of a killed write, and ignores that", async () => {
    const directory = temporaryDirectory();
    const store = claudeSessionStore(directory);
    await store.append(key, [entry("a")]);
    const whole = JSON.stringify(entry("b"));
    for (const tail of [whole.slice(0, -9), "\0\0", whole]) {
      appendFileSync(at(directory), tail);
      const again = claudeSessionStore(directory);
      await again.append(key, [entry("b"), { type: "mode" }]);
    }
    const expected = [entry("a"), entry("b"), { type: "mode" }, { type: "mode" }, entry("b")];
    expect(await store.load(key)).toEqual([...expected, { type: "mode" }]);
  });

  it("has each entry once after a short write and its retries", async () => {
    const directory = temporaryDirectory();
    let left = Infinity;
    const fs = {
      ...nodePorts.fs,
      writeSync: (fd: number, bytes: Buffer, offset: number, length: number) => {
        if (left <= 0) throw fileError("ENOSPC", "write");
        const taken = Math.min(length, left);
        left -= taken;
        return nodePorts.fs.writeSync(fd, bytes, offset, taken);
      },
    };
    const store = claudeSessionStore(directory, { ports: { fs } });
    await store.append(key, [entry("a")]);
    const batch = [{ type: "mode", n: 1 }, entry("b"), { type: "mode", n: 1 }, entry("c")];
    const lineBytes = Buffer.byteLength(`${JSON.stringify(batch[0])}\n`);
    for (const bytes of [lineBytes + 3, 4, 0]) {
      left = bytes;
      const error = typedError(await rejection(store.append(key, batch)));
      expect(error.code).toBe("ERR_APPEND_FAILED");
    }
    left = Infinity;
    await store.append(key, batch);
    await store.append(key, [batch[0] ?? entry("d")]);
    expect(await store.load(key)).toEqual([entry("a"), ...batch, batch[0]]);
  });

  it("fails with a code when its directory is a file, and writes nothing", async () => {
    const path = join(temporaryDirectory(), "file");
    writeFileSync(path, "");
    const store = claudeSessionStore(path);
    const error = typedError(await rejection(store.append(key, [entry("a")])));
    expect(error.code).toBe("ERR_CREATE_FAILED");
    expect(readFileSync(path, "utf8")).toBe("");
  });

  it("writes nothing where Claude Code keeps its own sessions", async () => {
    const home = temporaryDirectory();
    vi.stubEnv("CLAUDE_CONFIG_DIR", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const own = join(home, "projects");
    mkdirSync(join(own, key.projectKey), { recursive: true });
    writeFileSync(at(own), `${JSON.stringify(entry("a"))}\n`);
    const store = claudeSessionStore(own);
    expect(await store.load(key)).toEqual([entry("a")]);
    for (const one of [key, { ...key, sessionId: "another" }]) {
      const error = typedError(await rejection(store.append(one, [entry("b")])));
      expect(error.code).toBe("ERR_CREATE_FAILED");
    }
    expect(await store.load(key)).toEqual([entry("a")]);
  });

  it("is followed while it is appended to", async () => {
    const directory = temporaryDirectory();
    const store = claudeSessionStore(directory);
    await store.append(key, turn("One", "Two", null));
    const session = await openSession(at(directory), { access: "read" });
    const seen = live(session).waitFor({ revision: 4 });
    await store.append(key, turn("Three", "Four", session.tail));
    await seen;
    const texts = (await session.context()).messages.map(({ role }) => role);
    expect(texts).toEqual(["user", "assistant", "user", "assistant"]);
    await session.close();
  });

  it("restarts when another program replaced the file", async () => {
    const directory = temporaryDirectory();
    const store = claudeSessionStore(directory);
    await store.append(key, [entry("a"), entry("b")]);
    mkdirSync(dirname(at(directory)), { recursive: true });
    writeFileSync(at(directory), "");
    await store.append(key, [entry("a"), entry("c")]);
    expect(await store.load(key)).toEqual([entry("a"), entry("c")]);
  });

  it("restarts when another file has the inode of the removed one", async () => {
    const directory = temporaryDirectory();
    const store = claudeSessionStore(directory, { dataDir: temporaryDirectory() });
    const titled = (uuid: string, customTitle: string) => ({ ...entry(uuid), customTitle });
    await store.append(key, [titled("a", "before")]);
    await store.append(key, [entry("b")]);
    await store.listSessionSummaries(key.projectKey);
    await store.delete(key);
    await store.append(key, [titled("c", "x".repeat(1000))]);
    await store.append(key, [entry("a")]);
    const loaded = await store.load(key);
    expect(loaded?.map(({ uuid }) => uuid)).toEqual(["c", "a"]);
    const fresh = claudeSessionStore(directory);
    expect(await store.listSessionSummaries(key.projectKey)).toEqual(
      await fresh.listSessionSummaries(key.projectKey),
    );
  });

  it("has concurrent appends, each uuid once, and all acknowledged entries of a killed process", async () => {
    const directory = temporaryDirectory();
    const words = (name: string): string[] => [directory, sessionId, name, "40"];
    const [one, other, killed] = await Promise.all([
      appending(words("same")),
      appending(words("same")),
      appending(words("killed"), 7),
    ]);
    expect(one).toHaveLength(40);
    expect(other).toHaveLength(40);
    const again = await appending(words("killed"));
    expect(again).toHaveLength(40);
    const loaded = (await claudeSessionStore(directory).load(key)) ?? [];
    const uuids = loaded.flatMap(({ uuid }) => uuid ?? []);
    expect(new Set(uuids).size).toBe(uuids.length);
    expect(uuids).toHaveLength(2 * 40 * 3);
    const modes = new Map<unknown, number>();
    for (const { type, ["by"]: by } of loaded) {
      if (type === "mode") modes.set(by, (modes.get(by) ?? 0) + 1);
    }
    const counts = [...modes.values()].toSorted((a, b) => a - b);
    // The killed one may have written one more than it could say.
    expect(counts.slice(-3)).toEqual([40, 40, 40]);
    expect(counts.length === 4 ? counts[0] : 0).toBeGreaterThanOrEqual(killed.length);
  });
});
