/** The parsing loop that the format's document gives to its readers, unchanged, on files we wrote. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { fixtureFile } from "../../support/fixture.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** The document's loop; it prints to `console`, which is the test's own. */
const loop = `
const lines = readFileSync("session.jsonl", "utf8").trim().split("\\n");

for (const line of lines) {
  const entry = JSON.parse(line);

  switch (entry.type) {
    case "session":
      console.log(\`Session v\${entry.version ?? 1}: \${entry.id}\`);
      break;
    case "message":
      console.log(\`[\${entry.id}] \${entry.message.role}: \${JSON.stringify(entry.message.content)}\`);
      break;
    case "compaction":
      console.log(\`[\${entry.id}] Compaction: \${entry.tokensBefore} tokens summarized\`);
      break;
    case "branch_summary":
      console.log(\`[\${entry.id}] Branch from \${entry.fromId}\`);
      break;
    case "custom":
      console.log(\`[\${entry.id}] Custom (\${entry.customType}): \${JSON.stringify(entry.data)}\`);
      break;
    case "custom_message":
      console.log(\`[\${entry.id}] Extension message (\${entry.customType}): \${entry.content}\`);
      break;
    case "label":
      console.log(\`[\${entry.id}] Label "\${entry.label}" on \${entry.targetId}\`);
      break;
    case "model_change":
      console.log(\`[\${entry.id}] Model: \${entry.provider}/\${entry.modelId}\`);
      break;
    case "thinking_level_change":
      console.log(\`[\${entry.id}] Thinking: \${entry.thinkingLevel}\`);
      break;
  }
}
`;

function printed(path: string): string[] {
  const output: string[] = [];
  const console = { log: (line: string) => output.push(line) };
  runInNewContext(loop, { readFileSync: () => readFileSync(path, "utf8"), console });
  return output;
}

const seed = fixtureFile("seed-pi");

/** What it prints for the document's own session. */
const expected = [
  /^Session v3: .+/,
  /^\[a1b2c3d4\] user: "Hello"/,
  /^\[b2c3d4e5\] assistant: \[\{"type":"text","text":"Hi!"\}\]/,
  /^\[c3d4e5f6\] toolResult: \[\{"type":"text","text":"output"\}\]/,
  /^\[d4e5f6g7\] Model: openai\/gpt-4o/,
  /^\[e5f6g7h8\] Thinking: high/,
  /^\[f6g7h8i9\] Compaction: 50000 tokens summarized/,
  /^\[g7h8i9j0\] Branch from f6g7h8i9/,
  /^\[h8i9j0k1\] Custom \(my-extension\): \{"count":42\}/,
  /^\[i9j0k1l2\] Extension message \(my-extension\): Injected context/,
  /^\[j0k1l2m3\] Label "checkpoint-1" on a1b2c3d4/,
];

describe("the parsing loop of the format's document", () => {
  it("prints the document's session", () => {
    const output = printed(seed);
    expect(output).toHaveLength(expected.length);
    for (const [i, line] of output.entries()) expect(line).toMatch(expected[i] ?? /never/);
  });

  it("prints the same for a file that this engine wrote", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const session = await createSession(path);
    for await (const entry of (await openSession(seed)).entries()) {
      const { id, parentId, timestamp: _, ...draft } = entry;
      // The document's first entry names a parent that it does not show.
      await session.append(draft, {
        id,
        parent: { id: parentId === "prev1234" ? null : parentId },
        allowUnknownType: true,
      });
    }
    expect(printed(path).slice(1)).toEqual(printed(seed).slice(1));
  });

  it("prints the file of a drop-in manager", () => {
    const directory = temporaryDirectory();
    const manager = SessionManager.create(directory, directory);
    const id = manager.appendMessage({ role: "user", content: "Hello", timestamp: 1 });
    manager.appendLabelChange(id, "start");
    const output = printed(manager.getSessionFile() ?? "");
    expect(output.slice(1, 2)).toEqual([`[${id}] user: "Hello"`]);
    expect(output.at(-1)).toContain(`Label "start" on ${id}`);
  });
});

describe("the document's example session", () => {
  it("has the context that the document describes, at its end and at the compaction", async () => {
    const session = await openSession(seed, { access: "read" });
    const end = await session.context();
    expect(end.messages.map(({ role }) => role)).toEqual(["user", "branchSummary", "custom"]);
    expect(end.messages[0]).toMatchObject({ content: "Hello" });
    const compacted = await session.context({ at: "f6g7h8i9" });
    expect(compacted.messages.map(({ role }) => role)).toEqual(["compactionSummary", "toolResult"]);
    expect(compacted).toMatchObject({
      model: { provider: "openai", modelId: "gpt-4o" },
      thinkingLevel: "high",
    });
    expect(session.label("a1b2c3d4")?.label).toBe("checkpoint-1");
    expect(session.name).toBe("Refactor auth module");
  });
});
