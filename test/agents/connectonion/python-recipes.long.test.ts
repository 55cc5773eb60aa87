/** The recipes of the format, as its document has them, run by PyYAML on a file that we wrote. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { createConnectonion } from "@branchlog/agents/connectonion";
import { pythonWithYaml, runPython, withoutPython } from "../../support/python-yaml.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const recipe = (name: string, path: string): unknown =>
  runPython(new URL("recipes.py", import.meta.url), [name, path]);

const facts = {
  model: "co/gemini-2.5-pro",
  duration_ms: 10,
  tokens: 5,
  cost: 0.0001,
  tools_called: ["run(command='ls -la')"],
};

it.skipIf(pythonWithYaml === undefined)(
  `PyYAML reads our file as Branchlog does${withoutPython}`,
  async () => {
    const path = join(temporaryDirectory(), "oo.yaml");
    const session = await createConnectonion(path, {
      name: "yes",
      systemPrompt: "You are a coding agent.\n  Be brief: always.\n",
    });
    const inputs = ["list files", "12:30:45", "- a\n- b\n", ...Array.from({ length: 9 }, String)];
    for (const input of inputs) {
      const call = { name: "run", arguments: '{"command": "ls -la"}' };
      await session.appendTurn({ ...facts, input, result: "1.5" }, [
        { role: "user", content: input },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: call }],
        },
        { role: "tool", tool_call_id: "c", content: "total 20\n  drwxr-xr-x  .\n\ttab: yes\n" },
        { role: "assistant", content: "1.5" },
      ]);
    }
    expect(recipe("resume", path)).toEqual(session.messagesForResume());
    expect(recipe("replay", path)).toEqual(session.messagesForReplay(2));
    // The tool itself rewrites the file; what it leaves is read and continued.
    const before = session.document;
    recipe("rewrite", path);
    await session.refresh();
    expect(session.document).toEqual(before);
    await session.appendTurn({ ...facts, input: "next", result: "" }, []);
    expect(session.turns.at(-1)).toMatchObject({ turn: 13, input: "next" });
    expect(recipe("replay", path)).toEqual(session.messagesForReplay(2));
  },
);
