/** The recipes of the format, as its document has them, run by PyYAML on a file that we wrote. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { createConnectonion } from "@branchlog/agents/connectonion";
import { pythonWithYaml, runPython, withoutPython } from "../../support/python-yaml.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const opening = `
import json, sys, yaml
path = sys.argv[1]
with open(path) as f:
    session = yaml.safe_load(f)
`;

const resume = `${opening}
messages = [{"role": "system", "content": session['system_prompt']}]
for turn_num in sorted(session['messages'].keys()):
    messages.extend(session['messages'][turn_num])
print(json.dumps(messages))
`;

const replay = `${opening}
target_turn = 2
messages = [{"role": "system", "content": session['system_prompt']}]
for turn_num in range(1, target_turn):
    messages.extend(session['messages'][turn_num])
target_input = session['turns'][target_turn - 1]['input']
messages.append({"role": "user", "content": target_input})
print(json.dumps(messages))
`;

const rewrite = `${opening}
with open(path, 'w') as f:
    yaml.dump(session, f, default_flow_style=False, allow_unicode=True, sort_keys=False)
print(json.dumps(session))
`;

const facts = {
  model: "co/gemini-2.5-pro",
  duration_ms: 10,
  tokens: 5,
  cost: 0.0001,
  tools_called: ["run(command='ls -la')"],
};

it.skipIf(pythonWithYaml === undefined)(
  `PyYAML makes of our file what we make of it${withoutPython}`,
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
    expect(runPython(resume, "", path)).toEqual(session.messagesForResume());
    expect(runPython(replay, "", path)).toEqual(session.messagesForReplay(2));
    // The tool itself rewrites the file; what it leaves is read and continued.
    const before = session.document;
    runPython(rewrite, "", path);
    await session.refresh();
    expect(session.document).toEqual(before);
    await session.appendTurn({ ...facts, input: "next", result: "" }, []);
    expect(session.turns.at(-1)).toMatchObject({ turn: 13, input: "next" });
    expect(runPython(replay, "", path)).toEqual(session.messagesForReplay(2));
  },
);
