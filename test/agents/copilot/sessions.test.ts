/** Sessions of Copilot CLI as three of its versions wrote them, with a model that answers by a script. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { agentNamed } from "@branchlog/core/rows";
import { findSessions, knownPlaces } from "@branchlog/library";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, messagesOf, promptsOf, readSession, toolsOf } from "../read-session.ts";
import type { StoredTokens } from "../read-session.ts";

const read = (name: string): ReturnType<typeof readSession> => readSession(`copilot/${name}.jsonl`);

interface StoredEvent {
  readonly type: string;
  readonly data: {
    readonly usage?: StoredUsage;
    readonly compactionTokensUsed?: StoredUsage;
    readonly modelMetrics?: Readonly<Record<string, { readonly usage: StoredUsage }>>;
  };
}

interface StoredUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** By other means than ours: of each request, where they are recorded, else of each run. */
function storedTokens(name: string): StoredTokens {
  const text = readFileSync(fixturePath(`copilot/${name}.jsonl`), "utf8");
  const events = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as StoredEvent);
  const requests = events.flatMap(({ data }) => [
    ...(data.usage === undefined ? [] : [data.usage]),
    ...(data.compactionTokensUsed === undefined ? [] : [data.compactionTokensUsed]),
  ]);
  const runs = events.flatMap(({ data }) => Object.values(data.modelMetrics ?? {}));
  const all = requests.length > 0 ? requests : runs.map(({ usage }) => usage);
  return {
    input: all.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    output: all.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a session of Copilot CLI", () => {
  it.each(["copilot-1.0.20", "copilot-1.0.60", "copilot-1.0.102", "shell-command"])(
    "counts each token once, by what %s recorded",
    async (name) => {
      const { tokens } = await read(name);
      expect(tokens).toEqual(storedTokens(name));
      expect(tokens.input).toBeGreaterThan(0);
    },
  );

  it("has prompts, answers with calls, and results with what a person sees", async () => {
    const { path } = await read("copilot-1.0.102");
    expect(promptsOf(path)).toEqual([
      "list: which files are here?",
      "view: show the rate",
      "change: raise the rate",
      "fail: show a missing file",
      "both: say one and two",
      "delegate: find where rates are used",
      "view: again the rate",
      "list: and the files",
    ]);
    const results = messagesOf(path, "toolResult").map(({ message }) => message);
    expect(toolsOf(path)).toEqual([
      "bash",
      "view",
      "edit",
      "bash",
      "bash",
      "bash",
      "task",
      "view",
      "bash",
    ]);
    expect(JSON.stringify(results[2])).toContain("+export const vat = 0.20;");
    expect(JSON.stringify(results[3])).toContain('"exitCode":1');
  });

  it.each(["copilot-1.0.20", "copilot-1.0.60", "copilot-1.0.102"])(
    "has what a sub-agent did on a branch below its call, in %s",
    async (name) => {
      const { entries, path } = await read(name);
      const onPath = new Set(path.map(({ id }) => id));
      const beside = entries.filter(({ id }) => !onPath.has(id));
      const started = beside.find(
        (entry) => entry.type === "custom" && entry.customType === "copilot.subagent.started",
      );
      const call = path.find(({ id }) => id === started?.parentId);
      expect(JSON.stringify(call)).toContain('"name":"task"');
      expect(messagesOf(beside, "assistant").length).toBe(2);
      expect(messagesOf(beside, "user")).toEqual([]);
    },
  );

  it("has a compaction that keeps nothing", async () => {
    const { path } = await read("copilot-1.0.102");
    const [compaction] = path.filter(({ type }) => type === "compaction");
    expect(compaction).toMatchObject({ firstKeptEntryId: compaction?.id, tokensBefore: 5396 });
  });

  it("has a command that the user ran", async () => {
    const { path } = await read("shell-command");
    const [run] = messagesOf(path, "bashExecution");
    expect(run?.message).toMatchObject({
      command: "ls -a",
      exitCode: 0,
      output: ".\n..\n.git\nvat.ts",
    });
  });
});

it("Copilot CLI keeps sessions in its home, one a directory with the name that a user gave", async () => {
  const home = temporaryDirectory();
  vi.stubEnv("COPILOT_HOME", home);
  const id = "5ae96c50-ccb4-456a-b56f-17653f833540";
  const directory = join(home, "session-state", id);
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(directory, "events.jsonl"),
    readFileSync(fixturePath("copilot/copilot-1.0.102.jsonl")),
  );
  const named = async (workspace: string): Promise<string | undefined> => {
    writeFileSync(join(directory, "workspace.yaml"), workspace);
    const { sessions } = await findSessions([join(home, "session-state")], { catalog: "off" });
    return sessions[0]?.name;
  };
  expect(knownPlaces()).toContain(join(home, "session-state"));
  expect(await named("name: 'Rates: all of them'\nuser_named: true\n")).toBe("Rates: all of them");
  expect(await named("name: list the files\nuser_named: false\n")).toBeUndefined();
  expect(await named("name: [\n")).toBeUndefined();
  expect(agentNamed("copilot")?.resume({ id, path: directory })).toEqual([
    "copilot",
    `--resume=${id}`,
  ]);
});
