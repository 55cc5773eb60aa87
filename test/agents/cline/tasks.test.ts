/** Tasks of the extension of VS Code, rewritten from its source of version 3.39. */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openSession } from "@branchlog/core";
import { agentNamed } from "@branchlog/core/rows";
import { archiveSessions, findSessions, knownPlaces } from "@branchlog/library";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, promptsOf, readSession, toolsOf } from "../read-session.ts";

const id = "1770000000000";
const messagesName = "api_conversation_history.json";
const fixture = `cline/tasks/${id}`;

function copiedTo(tasks: string): string {
  mkdirSync(tasks, { recursive: true });
  cpSync(fixturePath(fixture), join(tasks, id), { recursive: true });
  return join(tasks, id, messagesName);
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a task of Cline", () => {
  it("has prompts, and calls and results in texts as in blocks", async () => {
    const { header, path, tokens } = await readSession(`${fixture}/${messagesName}`);
    expect(header).toMatchObject({
      id,
      cwd: "/home/dev/shop",
      timestamp: "2026-02-02T02:40:00.000Z",
    });
    expect(promptsOf(path)).toEqual(["What is in the shop?", "Change it to 7.", "Good."]);
    const tools = ["read_file", "replace_in_file", "execute_command", "attempt_completion"];
    expect(toolsOf(path)).toEqual(tools);
    const shown = JSON.stringify(path);
    expect(shown).toContain("There is one rate, which is 5.");
    expect(shown).not.toMatch(/environment_details|Result:/);
    // Without what was read from the cache, 3,900, and written to it, 50.
    expect(tokens).toEqual({ input: 1510 + 3950, output: 155 });
  });

  it("counts requests by their order where messages have no index", async () => {
    const path = copiedTo(join(temporaryDirectory(), "tasks"));
    const shownPath = join(dirname(path), "ui_messages.json");
    const shown = readFileSync(shownPath, "utf8");
    writeFileSync(shownPath, shown.replaceAll("conversationHistoryIndex", "other"));
    const { sessions } = await findSessions([dirname(dirname(path))], { catalog: "off" });
    expect(sessions.map(({ usage }) => usage?.total.requests)).toEqual([5]);
    expect(sessions[0]?.usage?.models).toEqual(["fake-1", "fake-2"]);
  });

  it("is listed in each editor, archived completely, and continued by no command", async () => {
    const home = temporaryDirectory();
    vi.stubEnv("HOME", home);
    vi.stubEnv("APPDATA", join(home, "AppData"));
    vi.stubEnv("XDG_CONFIG_HOME", join(home, ".config"));
    vi.stubEnv("CLINE_DIR", join(home, ".cline"));
    const tasks = agentNamed("cline")
      ?.places()
      .filter((place) => place.includes("globalStorage"));
    expect(tasks).toHaveLength(6);
    const [place = ""] = tasks ?? [];
    const path = copiedTo(place);
    // Roo Code names its files alike.
    const other = join(dirname(dirname(place)), "rooveterinaryinc.roo-cline", "tasks", "a-b");
    mkdirSync(other, { recursive: true });
    cpSync(path, join(other, messagesName));
    expect(knownPlaces()).toContain(place);
    const { sessions } = await findSessions([dirname(dirname(place))], { catalog: "off" });
    expect(sessions.map((session) => session.path)).toEqual([path]);
    expect(agentNamed("cline")?.resume({ id, path })).toBeNull();
    const options = { dataDir: temporaryDirectory(), force: true };
    expect((await archiveSessions([path], options)).failures).toEqual([]);
    const names = [messagesName, "ui_messages.json", "task_metadata.json"];
    expect(names.filter((name) => existsSync(join(dirname(path), name)))).toEqual([]);
  });

  it("is rejected when partly written, and read without display data", async () => {
    const path = copiedTo(join(temporaryDirectory(), "tasks"));
    renameSync(join(dirname(path), "ui_messages.json"), join(dirname(path), "other.json"));
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    expect((await session.usage).total.requests).toBe(0);
    await session.close();
    writeFileSync(path, readFileSync(path, "utf8").slice(0, -10));
    await expect(openSession(path, { access: "read" })).rejects.toMatchObject({
      code: "ERR_DOCUMENT_DAMAGED",
    });
  });
});
