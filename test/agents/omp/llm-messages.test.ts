/** What a model is sent of the messages that only omp has. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SessionManager, convertToLlm } from "@branchlog/agents/omp";
import type { AgentMessage } from "@branchlog/agents/omp";
import { fixtureFile } from "../../support/fixture.ts";

// Past the types on purpose: roles that only omp has are not messages of pi.
const odd = (message: object): AgentMessage => message as AgentMessage;

describe("the messages sent to a model", () => {
  it("holds mentioned files and Python that the user ran, as the user's words", async () => {
    const manager = await SessionManager.open(fixtureFile("omp-jan"));
    manager.branch("eM2nB_vC");
    const sent = convertToLlm(manager.buildSessionContext().messages);
    expect(sent.map(({ role }) => role)).toEqual(["user", "user", "user", "assistant"]);
    expect(sent.slice(1, 3)).toMatchObject([
      { content: [{ type: "text", text: '<file path="notes.md">\nremember the milk\n</file>' }] },
      {
        content: [
          { type: "text", text: "Ran Python:\n```python\nprint(1)\n```\nOutput:\n```\n1\n\n```" },
        ],
      },
    ]);
  });

  it("has the exit of Python, and nothing that is not for the model", () => {
    const run = (fields: object): unknown =>
      convertToLlm([odd({ role: "pythonExecution", code: "x", output: "", ...fields })])[0]
        ?.content;
    const text = (said: string): unknown => [
      { type: "text", text: `Ran Python:\n\`\`\`python\nx\n\`\`\`\n(no output)${said}` },
    ];
    expect(run({ exitCode: 0 })).toEqual(text(""));
    expect(run({ exitCode: 2 })).toEqual(text("\n\nExecution failed with code 2"));
    expect(run({ cancelled: true, exitCode: 2 })).toEqual(text("\n\n(execution cancelled)"));
    expect(run({ excludeFromContext: true })).toBeUndefined();
  });

  it("has the images of mentioned files behind their paths", () => {
    const image = { type: "image", data: "AA==", mimeType: "image/png" };
    const files = [{ path: "a.png", content: "", image }, null, { path: "b" }];
    expect(convertToLlm([odd({ role: "fileMention", files, timestamp: 7 })])).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: '<file path="a.png">\n</file>' },
          image,
          { type: "text", text: '<file path="b">\n</file>' },
        ],
        timestamp: 7,
      },
    ]);
  });

  it("is built from any stored value", () => {
    const role = fc.constantFrom("pythonExecution", "fileMention", "developer", "user");
    const fields = fc.dictionary(
      fc.constantFrom("code", "output", "files", "content", "exitCode", "timestamp"),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(role, fields, (name, message) => {
        for (const { role: sent } of convertToLlm([odd({ ...message, role: name })])) {
          expect(sent).toBe("user");
        }
      }),
    );
  });
});
