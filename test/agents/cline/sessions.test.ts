/** A session of Cline as its version 3.0.65 wrote it, with a model that answers by a script. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openSession } from "@branchlog/core";
import { agentNamed } from "@branchlog/core/rows";
import { archiveSessions, findSessions, knownPlaces } from "@branchlog/library";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath, promptsOf, readSession, toolsOf } from "../read-session.ts";

const id = "1795941218519_16gyt";

/** Where Cline keeps it. */
function copiedTo(home: string): string {
  const directory = join(home, id);
  mkdirSync(directory, { recursive: true });
  for (const name of readdirSync(fixturePath(`cline/${id}`))) {
    copyFileSync(fixturePath(`cline/${id}/${name}`), join(directory, name));
  }
  return join(directory, `${id}.messages.json`);
}

function opened(path: string): ReturnType<typeof openSession> {
  return openSession(path, { access: "read", checkpoint: "off" });
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a session of Cline", () => {
  it("counts each token once, as Cline itself does", async () => {
    const manifest = readFileSync(fixturePath(`cline/${id}/${id}.json`), "utf8");
    const [, input, output] = /"inputTokens":(\d+),"outputTokens":(\d+)/.exec(manifest) ?? [];
    const { tokens, header } = await readSession(`cline/${id}/${id}.messages.json`);
    expect(tokens).toEqual({ input: Number(input), output: Number(output) });
    expect(tokens).toEqual({ input: 5020, output: 120 });
    expect(header).toMatchObject({
      id,
      cwd: "/home/dev/shop",
      timestamp: "2026-11-29T08:33:38.522Z",
    });
  });

  it("has prompts, results, and the messages that a compaction kept", async () => {
    const session = await opened(copiedTo(temporaryDirectory()));
    try {
      const path = await session.branch();
      expect(promptsOf(path)).toEqual([
        "change: and fail: please",
        "delegate: where are the rates?",
        "after it",
      ]);
      expect(toolsOf(path)).toEqual(["editor", "spawn_agent"]);
      const { messages } = await session.context();
      expect(messages.map(({ role }) => role)).toEqual([
        "compactionSummary",
        "user",
        "assistant",
        "toolResult",
        "assistant",
        "user",
        "assistant",
      ]);
      expect(messages[1]).toMatchObject({ content: [{ text: "delegate: where are the rates?" }] });
    } finally {
      await session.close();
    }
  });

  it("has a log that only grows with its messages, so that it can be followed", async () => {
    const path = copiedTo(temporaryDirectory());
    rmSync(path.replace(".messages.", ".compaction."));
    const manifest = path.replace(".messages.", ".");
    const title = '"title":"Rates of the shop"';
    const named = readFileSync(manifest, "utf8").replace(/"title":"[^"]*"/, title);
    writeFileSync(manifest, named);
    const stored = JSON.parse(readFileSync(path, "utf8")) as { messages: object[] };
    const format = agentNamed("cline")?.documents;
    const logOf = async (count: number): Promise<string> => {
      const messages = stored.messages.slice(0, count);
      const updated_at = `2026-11-29T08:40:${String(count).padStart(2, "0")}.000Z`;
      const bytes = Buffer.from(JSON.stringify({ ...stored, updated_at, messages }));
      return String(await format?.toLog(path, { bytes, changedMs: 0 }));
    };
    const whole = await logOf(stored.messages.length);
    expect(whole).toContain('"name":"Rates of the shop"');
    await fc.assert(
      fc.asyncProperty(fc.nat(stored.messages.length), async (count) => {
        expect(whole.startsWith(await logOf(count))).toBe(true);
      }),
    );
  });

  it("keeps every message when ids repeat and times are out of range", async () => {
    const path = copiedTo(temporaryDirectory());
    const stored = JSON.parse(readFileSync(path, "utf8")) as { messages: object[] };
    const messages = stored.messages.map((message) => ({ ...message, id: "msg", ts: 1e300 }));
    writeFileSync(path, JSON.stringify({ ...stored, messages }));
    const session = await opened(path);
    try {
      const branch = await session.branch();
      expect(promptsOf(branch)).toContain("after it");
      const count = branch.filter(({ type }) => type === "message").length;
      expect(count).toBe(stored.messages.length);
    } finally {
      await session.close();
    }
  });

  it("has a name of its own, which is not that of its subagents", async () => {
    const home = temporaryDirectory();
    const path = copiedTo(home);
    const manifest = path.replace(".messages.", ".");
    const stored = JSON.parse(readFileSync(manifest, "utf8")) as { metadata: object };
    const metadata = { ...stored.metadata, title: "Rates of the shop" };
    writeFileSync(manifest, JSON.stringify({ ...stored, metadata }));
    const { sessions } = await findSessions([home], { artifacts: true, catalog: "off" });
    const names = sessions.map(({ name, transcript }) => [transcript?.isSubagent, name]);
    expect(new Map(names as [boolean, string | undefined][])).toEqual(
      new Map([
        [true, undefined],
        [false, "Rates of the shop"],
      ]),
    );
  });

  it("is rejected with what is missing when partly written, and reported in a list", async () => {
    const home = temporaryDirectory();
    const path = copiedTo(home);
    writeFileSync(path, readFileSync(path, "utf8").slice(0, 400));
    await expect(opened(path)).rejects.toMatchObject({ code: "ERR_DOCUMENT_DAMAGED" });
    const { unlisted } = await findSessions([home], { catalog: "off" });
    expect(unlisted).toEqual([path]);
  });

  it("is listed with its subagents below it, and archived with all its files", async () => {
    const home = temporaryDirectory();
    vi.stubEnv("CLINE_SESSION_DATA_DIR", home);
    const path = copiedTo(home);
    expect(knownPlaces()).toContain(home);
    const { sessions } = await findSessions([home], { artifacts: true, catalog: "off" });
    const facts = sessions.map(({ header, transcript, usage }) => ({
      id: header.id,
      parent: header.parentSession,
      isSubagent: transcript?.isSubagent,
      output: usage?.total.output,
    }));
    expect(facts).toContainEqual({ id, parent: undefined, isSubagent: false, output: 120 });
    expect(facts).toContainEqual({
      id: `${id}__agent_1795941239166_2drg7k`,
      parent: id,
      isSubagent: true,
      output: 49,
    });
    expect(agentNamed("cline")?.resume({ id: `${id}__agent_1`, path: "" })).toEqual([
      "cline",
      "--id",
      id,
    ]);
    const { failures } = await archiveSessions([path], {
      dataDir: temporaryDirectory(),
      force: true,
    });
    expect(failures).toEqual([]);
    expect(existsSync(join(home, id, `${id}.json`))).toBe(false);
  });
});
