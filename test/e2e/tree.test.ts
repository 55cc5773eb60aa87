/** Proof by a real client: an extension of pi does the same to a session tree with either layer. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { workspace } from "./support/install.ts";
import { modelFor } from "./support/model-server.ts";
import { bothPis } from "./support/pi-program.ts";
import { expectSameOutcome, look } from "./support/rpc-comparison.ts";
import { sessionFromFixture } from "./support/sandbox.ts";
import type { Sandbox } from "./support/sandbox.ts";

const pis = bothPis();
const extension = join(workspace, "test/e2e/support/extension.mjs");

async function withExtension(place: Sandbox): Promise<readonly string[]> {
  await modelFor(place);
  return ["--session-dir", place.sessions, "--extension", extension];
}

describe("Verifies: P20. pi with an extension", () => {
  it("moves in the tree, with and without summaries", async () => {
    await expectSameOutcome(pis, {
      prepare: withExtension,
      async talk(server) {
        for (const word of ["One", "Two", "Three"]) await server.prompt(word);
        await server.command("act", [["navigate", -3]]);
        await look(server);
        await server.prompt("Three again");
        await server.command("act", [["navigate", 4, { summarize: true, label: "left" }]]);
        await look(server);
        await server.prompt("Four");
        await server.command("act", [["navigate", 3, { summarize: true }]]);
        await look(server);
        await server.prompt("A new beginning");
        await look(server);
        await server.command("act", [["navigate", 9999]]);
        await server.ask({ type: "clone" });
        await look(server);
      },
    });
  });

  it("labels, names, edits and keeps data, and forks all of it", async () => {
    await expectSameOutcome(pis, {
      prepare: withExtension,
      async talk(server) {
        await server.command("act", [["entry", "early", { n: 1 }]]);
        await server.command("act", [["name", "Early"]]);
        await server.prompt("One");
        await server.prompt("Two");
        await server.command("act", [
          ["label", -1, "last"],
          ["label", 5, "first"],
          ["label", 5, "better"],
          ["entry", "state", { list: [1, { deep: null }], text: "\u2028" }],
          ["entry", "bare"],
          ["note", "For the model only."],
          ["name", " Two\r\nlines "],
          ["usage"],
          ["label", 5, null],
          ["label", 6, "kept"],
        ]);
        await look(server);
        await server.prompt("Three");
        await server.command("act", [["edit", 5, "Changed one."]]);
        await server.command("act", [["edit", -2, null]]);
        await server.command("act", [["edit", 0, null]]);
        await look(server);
        await server.prompt("Four, of a boundary");
        await look(server);
        await server.command("act", [["fork", -1, "at"]]);
        await look(server);
        await server.prompt("Five");
        await server.command("act", [["start", "Started"]]);
        await look(server);
        await server.prompt("Six");
      },
    });
  });

  it("continues stored trees in place", async () => {
    const names = ["pi-branches", "pi-compactions-overlapping", "pi-v1", "pi-v2"];
    await expectSameOutcome(pis, {
      async prepare(place) {
        for (const name of names) sessionFromFixture(place, name);
        return withExtension(place);
      },
      async talk(server, place) {
        for (const name of names) {
          const sessionPath = join(place.sessions, `${name}.jsonl`);
          await server.ask({ type: "switch_session", sessionPath });
          await server.ask({ type: "set_model", provider: "here", modelId: "echo" });
          await server.prompt("Go on");
          await server.command("act", [["navigate", 2, { summarize: true, label: "here" }]]);
          await server.prompt("Go on from there");
          await look(server);
          await server.ask({ type: "clone" });
          await look(server);
          await server.prompt("Go on in the copy");
        }
      },
    });
  });

  it("recovers from failures of the model", async () => {
    await expectSameOutcome(pis, {
      prepare: withExtension,
      async talk(server) {
        await server.prompt("Good");
        await server.prompt("Please fail 1 times");
        await look(server);
        await server.prompt("Please fail 9 times");
        await look(server);
        await server.prompt("Good again");
        await look(server);
        await server.ask({ type: "set_auto_compaction", enabled: true });
        await server.prompt(`Filler: ${"filler ".repeat(50)}`);
        await server.prompt("Please overflow 1 times");
        await look(server);
        const compactions = server.transcript.filter(({ type }) => type === "compaction_end");
        expect(compactions).toMatchObject([{ reason: "overflow", aborted: false }]);
        await server.prompt("Please run: echo after all that");
        await look(server);
      },
    });
  });
});
