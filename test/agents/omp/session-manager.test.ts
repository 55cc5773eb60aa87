/** omp's session manager: what its document says of every method, and what its users rely on. */
import { describe, expect, it } from "vitest";
import { created, answer, directory, inMemoryFiles, recordsIn, say } from "./managers.ts";

const urlSafe8 = /^[A-Za-z0-9_-]{8}$/;

describe("a new session", () => {
  it("has ids in omp's format, in its header, its file name and its entries", () => {
    const { fs, manager } = created();
    expect(manager.getSessionId()).toMatch(/^[A-Za-z0-9_-]{21}$/);
    const id = say(manager, "Hello");
    expect(id).toMatch(urlSafe8);
    const path = manager.getSessionFile() ?? "";
    expect(path).toBe(`${directory}/2026-01-01T00-00-00-000Z_${manager.getSessionId()}.jsonl`);
    expect(recordsIn(fs, path)).toMatchObject([
      { type: "session", version: 3, id: manager.getSessionId(), cwd: "/work" },
      { type: "message", id, parentId: null },
    ]);
  });

  it("has its title in the header if it is named before it is on disk", async () => {
    const { managers, fs, manager } = created();
    manager.appendModelChange("anthropic/claude-sonnet-4-5");
    await manager.setSessionTitle("From the start");
    expect(fs.listSync(directory)).toEqual([]);
    expect(manager.getSessionTitle()).toBe("From the start");
    say(manager, "Hello");
    const [header, model, message] = recordsIn(fs, manager.getSessionFile());
    const keys = Object.keys(header as object).join(" ");
    expect(keys).toBe("type version id timestamp cwd title titleSource");
    expect(header).toMatchObject({ title: "From the start" });
    expect(model).toMatchObject({ type: "model_change", model: "anthropic/claude-sonnet-4-5" });
    expect(message).toMatchObject({ type: "message" });
    const again = await managers.open(manager.getSessionFile() ?? "");
    expect(again.getSessionTitle()).toBe("From the start");
  });

  it("is named by an entry once it is on disk, which later appends follow", async () => {
    const { managers, fs, manager } = created();
    const first = say(manager, "Hello");
    await manager.setSessionTitle("Later");
    const last = answer(manager, "Hi");
    const [, , change] = recordsIn(fs, manager.getSessionFile());
    expect(change).toMatchObject({ type: "title_change", parentId: first, title: "Later" });
    const again = await managers.open(manager.getSessionFile() ?? "");
    expect(again.getSessionName()).toBe("Later");
    // omp writes the change after what was appended meanwhile: its leaf after reopening.
    expect(again.getLeafId()).toBe(last);
    expect(again.buildSessionContext().messages).toHaveLength(2);
  });

  it("does not show an agent messages of another manager that it has not read", async () => {
    const { managers } = inMemoryFiles();
    const one = managers.create("/work", directory);
    say(one, "Hello");
    const other = await managers.open(one.getSessionFile() ?? "");
    await other.setSessionName("said by its user", "user");
    expect(await one.setSessionName("made up", "auto")).toBe(false);
    expect(one.getSessionName()).toBe("said by its user");
  });

  it("does not let its agent replace the name set by the user", async () => {
    const { managers, manager } = created();
    expect(await manager.setSessionName("guessed", "auto", "first-turn")).toBe(true);
    expect(await manager.setSessionName("guessed better")).toBe(true);
    expect(await manager.setSessionName("mine", "user")).toBe(true);
    expect(await manager.setSessionName("guessed again")).toBe(false);
    expect([manager.getSessionName(), manager.titleSource]).toEqual(["mine", "user"]);
    expect(await manager.setSessionName("  ", "user")).toBe(false);
    say(manager, "Hello");
    const again = await managers.open(manager.getSessionFile() ?? "");
    expect(await again.setSessionName("guessed")).toBe(false);
    expect(again.getSessionName()).toBe("mine");
  });
});

describe("appending", () => {
  it("writes every entry with omp's keys and key order", () => {
    const { fs, manager } = created();
    const user = say(manager, "Hello");
    const ids = [
      manager.appendThinkingLevelChange("high"),
      manager.appendModelChange("openai/gpt-4o", "smol"),
      manager.appendSessionInit({ systemPrompt: "p", task: "t", tools: ["bash"] }),
      manager.appendCompaction("s", "short", user, 9, { d: 1 }, true, { k: 1 }),
      manager.appendCustomEntry("ext", { n: 1 }),
      manager.appendCustomMessageEntry("ext", "text", true, { d: 1 }),
      manager.appendTtsrInjection(["rule-a"]),
      manager.appendLabelChange(user, "mark"),
      manager.appendModeChange("plan"),
      manager.appendServiceTierChange({ openai: "flex" }),
      manager.appendThinkingLevelChange(),
      manager.branchWithSummary(user, "tried A", undefined, false),
      manager.branchWithSummary(null, "from the start"),
    ];
    const lines = fs
      .readFileSync(manager.getSessionFile() ?? "")
      .toString()
      .trimEnd()
      .split("\n");
    const written = lines.slice(2).map((line, at) => {
      const parentId = /"parentId":("[^"]*"|null)/.exec(line)?.[1] ?? "";
      return line.replace(`"id":"${ids[at]}"`, "ID").replace(`"parentId":${parentId}`, "P");
    });
    const T = `"timestamp":"2026-01-01T00:00:00.000Z"`;
    expect(written).toEqual([
      `{"type":"thinking_level_change",ID,P,${T},"thinkingLevel":"high"}`,
      `{"type":"model_change",ID,P,${T},"model":"openai/gpt-4o","role":"smol"}`,
      `{"type":"session_init",ID,P,${T},"systemPrompt":"p","task":"t","tools":["bash"]}`,
      `{"type":"compaction",ID,P,${T},"summary":"s","shortSummary":"short",` +
        `"firstKeptEntryId":"${user}","tokensBefore":9,"details":{"d":1},` +
        `"fromExtension":true,"preserveData":{"k":1}}`,
      `{"type":"custom","customType":"ext","data":{"n":1},ID,P,${T}}`,
      `{"type":"custom_message","customType":"ext","content":"text","display":true,` +
        `"details":{"d":1},ID,P,${T}}`,
      `{"type":"ttsr_injection",ID,P,${T},"injectedRules":["rule-a"]}`,
      `{"type":"label",ID,P,${T},"targetId":"${user}","label":"mark"}`,
      `{"type":"mode_change",ID,P,${T},"mode":"plan"}`,
      `{"type":"service_tier_change",ID,P,${T},"serviceTier":{"openai":"flex"}}`,
      `{"type":"thinking_level_change",ID,P,${T},"thinkingLevel":null}`,
      `{"type":"branch_summary",ID,P,${T},"fromId":"${user}","summary":"tried A",` +
        `"fromExtension":false}`,
      `{"type":"branch_summary",ID,P,${T},"fromId":"root","summary":"from the start"}`,
    ]);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ parentId: null });
  });

  it("gives the context that omp has of it", () => {
    const { managers } = inMemoryFiles();
    const manager = managers.inMemory("/work");
    expect(manager.buildSessionContext()).toMatchObject({
      messages: [],
      models: {},
      thinkingLevel: "off",
      injectedTtsrRules: [],
      mode: "none",
    });
    say(manager, "one");
    answer(manager, "two");
    manager.appendTtsrInjection(["a", "b"]);
    manager.appendTtsrInjection(["b", "c"]);
    const kept = say(manager, "three");
    manager.appendCompaction("so far", "far", kept, 10);
    manager.appendModelChange("openai/gpt-4o", "smol");
    expect(manager.buildSessionContext()).toMatchObject({
      messages: [
        { role: "compactionSummary", summary: "so far", shortSummary: "far", tokensBefore: 10 },
        { role: "user", content: "three" },
      ],
      models: { default: "anthropic/claude-test", smol: "openai/gpt-4o" },
      injectedTtsrRules: ["a", "b", "c"],
    });
    expect(manager.getInjectedTtsrRules()).toEqual(["a", "b", "c"]);
    expect(manager.getLastModelChangeRole()).toBe("smol");
  });
});

it("the tree has children by time, labels, and roots for what has no parent", () => {
  const { managers } = inMemoryFiles();
  const manager = managers.inMemory("/work");
  const root = say(manager, "root");
  const one = answer(manager, "one");
  manager.branch(root);
  const other = answer(manager, "other");
  manager.resetLeaf();
  const second = say(manager, "second root");
  manager.appendLabelChange(one, "mark");
  expect(manager.getChildren(root).map(({ id }) => id)).toEqual([one, other]);
  expect(manager.getTree().map(({ entry }) => entry.id)).toEqual([root, second]);
  expect(manager.getTree()[0]?.children.map(({ label }) => label)).toEqual(["mark", undefined]);
  expect(manager.getBranch(other).map(({ id }) => id)).toEqual([root, other]);
  expect([manager.getLabel(one), manager.getEntry(one)?.parentId]).toEqual(["mark", root]);
  expect(() => manager.branch("nobody")).toThrow("Entry nobody not found");
  expect(() => manager.appendLabelChange("nobody", "x")).toThrow("Entry nobody not found");
});

it("a tree with very many branches is shown without archived entries", async () => {
  const { managers, fs } = inMemoryFiles();
  fs.makeDirectorySync(directory);
  const header = { type: "session", version: 3, id: "a", timestamp: "", cwd: "/", title: "wide" };
  const timestamp = "2026-01-01T00:00:00.000Z";
  const entry = (id: string, parentId: string | null): object => ({
    type: "custom",
    customType: "x",
    id,
    parentId,
    timestamp,
  });
  const children = Array.from({ length: 150_000 }, (_, at) => entry(`c${at}`, "root"));
  const away = { type: "archive", id: "x", parentId: null, timestamp, targetId: "c1" };
  const records = [header, entry("root", null), ...children, { ...away, archived: true }];
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join("");
  fs.writeFileSync(`${directory}/wide.jsonl`, Buffer.from(text));
  const manager = await managers.open(`${directory}/wide.jsonl`);
  expect(manager.getTree()[0]?.children).toHaveLength(149_999);
  expect(manager.getTree({ includeArchived: true })[0]?.children).toHaveLength(150_000);
});

it("a log of pi that omp continues knows the models of its roles, and which was changed last", async () => {
  const { managers, fs } = inMemoryFiles();
  fs.makeDirectorySync(directory);
  const uuid = "01990000-0000-7000-8000-000000000001";
  const header = { type: "session", version: 3, id: uuid, timestamp: "", cwd: "/" };
  fs.writeFileSync(`${directory}/pi.jsonl`, Buffer.from(`${JSON.stringify(header)}\n`));
  const manager = await managers.open(`${directory}/pi.jsonl`);
  manager.appendModelChange("a/b");
  manager.appendModelChange("c/d", "smol");
  expect(manager.getLastModelChangeRole()).toBe("smol");
  expect(manager.buildSessionContext().models).toEqual({ default: "a/b", smol: "c/d" });
  manager.appendModelChange("without-a-provider");
  expect(manager.buildSessionContext().models["default"]).toBe("without-a-provider");
  manager.appendModelChange("e/f", "__proto__");
  expect(Object.keys(manager.buildSessionContext().models)).toContain("__proto__");
});

describe("forks and copies", () => {
  it("are rejected for a missing path, and create nothing", async () => {
    const { managers, fs } = inMemoryFiles();
    fs.makeDirectorySync(directory);
    await expect(managers.forkFrom("/nowhere.jsonl", "/work", directory)).rejects.toThrow(
      "Cannot fork",
    );
    expect(fs.listSync(directory)).toEqual([]);
  });

  it("have the same entries as their source", async () => {
    const { managers, manager } = created();
    await manager.setSessionTitle("named");
    say(manager, "one");
    answer(manager, "two");
    const fork = await managers.forkFrom(manager.getSessionFile() ?? "", "/other", directory);
    expect(fork.buildSessionContext()).toEqual(manager.buildSessionContext());
    expect([fork.getCwd(), fork.getSessionName()]).toEqual(["/other", "named"]);
    expect(fork.getHeader()?.parentSession).toBe(manager.getSessionFile());
  });
});

describe("a session that is opened again", () => {
  it("starts at an empty summary", async () => {
    const { managers, manager } = created();
    const first = say(manager, "one");
    answer(manager, "two");
    const mark = manager.branchWithSummary(first, "");
    const again = await managers.open(manager.getSessionFile() ?? "");
    expect(again.getLeafId()).toBe(mark);
    expect(again.buildSessionContext().messages).toHaveLength(1);
  });

  it("is saved completely by two managers that append in turn", async () => {
    const { managers, manager } = created();
    say(manager, "one");
    const other = await managers.open(manager.getSessionFile() ?? "");
    for (let at = 0; at < 5; at += 1) {
      say(manager, `mine ${at}`);
      say(other, `theirs ${at}`);
    }
    const again = await managers.open(manager.getSessionFile() ?? "");
    expect([again.getEntries().length, again.getTree().length]).toEqual([11, 1]);
    for (const one of [manager, other]) {
      expect(one.buildSessionContext().messages).toHaveLength(6);
    }
  });
});

it("usage adds up over the whole log, and new entries", () => {
  const { managers } = inMemoryFiles();
  const manager = managers.inMemory("/work");
  expect(manager.getUsageStatistics()).toMatchObject({ input: 0, output: 0, cost: 0 });
  answer(manager, "one");
  expect(manager.getUsageStatistics()).toMatchObject({ input: 1, output: 2, totalTokens: 3 });
  answer(manager, "two");
  expect(manager.getUsageStatistics()).toMatchObject({ input: 2, output: 4 });
});

describe("methods that agent sessions call", () => {
  it("writes each tool output to its own file next to the session", async () => {
    const { fs, manager, managers } = created();
    say(manager, "Hello");
    const artifacts = manager.getSessionFile()?.slice(0, -".jsonl".length);
    expect(manager.getArtifactsDir()).toBe(artifacts);
    expect(await manager.allocateArtifactPath("bash")).toEqual({
      id: "0",
      path: `${artifacts}/0.bash.log`,
    });
    const same = await managers.open(manager.getSessionFile() ?? "");
    expect(await same.allocateArtifactPath("mcp: ../x")).toEqual({
      id: "1",
      path: `${artifacts}/1.mcp_x.log`,
    });
    expect(fs.listSync(artifacts ?? "").toSorted()).toEqual(["0.bash.log", "1.mcp_x.log"]);
    const inMemory = managers.inMemory("/work");
    expect([inMemory.getArtifactsDir(), inMemory.getArtifactManager()]).toEqual([null, null]);
    expect(await inMemory.allocateArtifactPath("bash")).toEqual({});
  });

  it("keeps directories of the workspace for itself, and counts the budget of a turn", async () => {
    const { manager } = created();
    expect(manager.getRecordedCwd()).toBe("/work");
    expect(manager.getAdditionalDirectories()).toEqual([]);
    await manager.setAdditionalDirectories(["/b", "/work", "/b/../a", "/a"]);
    expect(manager.getAdditionalDirectories()).toEqual(["/b", "/a"]);
    say(manager, "Hello");
    answer(manager, "Hi");
    expect(manager.getTurnBudget()).toMatchObject({ total: null, hard: false });
    manager.beginTurnBudget(1000, true);
    expect(manager.getTurnBudget()).toEqual({ total: 1000, spent: 0, hard: true });
    answer(manager, "Hi again");
    const { spent } = manager.getTurnBudget();
    expect(spent).toBeGreaterThan(0);
    manager.recordEvalSubagentOutput(7);
    manager.recordEvalSubagentOutput(Number.NaN);
    expect(manager.getTurnBudget().spent).toBe(spent + 7);
  });
  it("knows which account served a provider last, on the path to the leaf", () => {
    const { manager } = created();
    const first = say(manager, "Hello");
    manager.appendCredentialPin("anthropic", "h1");
    manager.seal();
    manager.appendCredentialPin("other", "h2");
    manager.releaseRetainedEntries();
    answer(manager, "Hi");
    const pins = manager.getCredentialPins();
    expect(pins.get("anthropic")?.hash).toBe("h1");
    expect(pins.get("other")?.lastUsedAt).toBeGreaterThan(0);
    manager.branch(first);
    expect(manager.getCredentialPins().size).toBe(0);
  });
});
