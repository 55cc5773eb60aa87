/** Proof by a real client: pi's server answers the same over our session layer as over its own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { modelFor } from "./support/model-server.ts";
import { bothPis } from "./support/pi-program.ts";
import type { PiServer } from "./support/pi-run.ts";
import { expectSameOutcome } from "./support/rpc-comparison.ts";
import { sessionFromFixture } from "./support/sandbox.ts";
import type { Sandbox } from "./support/sandbox.ts";

const pis = bothPis();

interface Entries {
  readonly entries: readonly { readonly id: string; readonly type: string }[];
  readonly leafId: string | null;
}
interface ForkMessages {
  readonly messages: readonly { readonly entryId: string; readonly text: string }[];
}

/** Every question about the open session. */
async function askEverything(server: PiServer): Promise<void> {
  for (const type of [
    "get_state",
    "get_messages",
    "get_entries",
    "get_tree",
    "get_fork_messages",
    "get_last_assistant_text",
    "get_session_stats",
  ]) {
    await server.ask({ type });
  }
}

async function withModel(place: Sandbox): Promise<readonly string[]> {
  await modelFor(place);
  return ["--session-dir", place.sessions];
}

describe("Verifies: P20. pi --mode rpc", () => {
  // Not these, with which pi cannot cope (deviations.test.ts shows how): pi-bom, pi-cycles,
  // pi-duplicate-ids, pi-malformed-bodies.
  const stored = [
    "seed-pi",
    "realistic-session",
    "pi-linear",
    "pi-branches",
    "pi-labels-and-names",
    "pi-side-entries",
    "pi-compactions-overlapping",
    "pi-compaction-boundaries",
    "pi-context-edits",
    "pi-context-edits-compacted",
    "pi-system-messages",
    "pi-retained-tail",
    "pi-null-content",
    "pi-missing-parents",
    "pi-children-before-parents",
    "pi-v1",
    "pi-v1-boundaries",
    "pi-v1-migrated",
    "pi-v2",
    "pi-crlf",
  ];

  it("answers the same about stored sessions, and appends the same to them", async () => {
    await expectSameOutcome(pis, {
      async prepare(place) {
        for (const name of stored) sessionFromFixture(place, name);
        return withModel(place);
      },
      async talk(server, place) {
        for (const name of stored) {
          const sessionPath = join(place.sessions, `${name}.jsonl`);
          await server.ask({ type: "switch_session", sessionPath });
          await askEverything(server);
          await server.ask({ type: "set_session_name", name: `Seen ${name}` });
          await server.ask({ type: "get_entries" });
        }
      },
    });
  });

  it("holds the same conversation with a model, tools and a shell", async () => {
    await expectSameOutcome(pis, {
      prepare: withModel,
      async talk(server) {
        await askEverything(server);
        await server.ask({ type: "bash", command: "echo before" });
        await server.ask({ type: "set_session_name", name: "  First\nname " });
        await server.prompt("Hello");
        await server.prompt("Please run: echo from the tool");
        await server.ask({ type: "bash", command: "printf 'a\\nb'; exit 3" });
        await server.ask({ type: "bash", command: "echo hidden", excludeFromContext: true });
        await server.ask({ type: "set_model", provider: "here", modelId: "other" });
        await server.ask({ type: "set_thinking_level", level: "high" });
        await server.prompt("And again, with \u2028 and \u{1f600}");
        await server.ask({ type: "set_session_name", name: "Second name" });
        await server.ask({ type: "set_session_name", name: "  " });
        await askEverything(server);
        const { entries } = await server.data<Entries>({ type: "get_entries" });
        await server.ask({ type: "get_entries", since: entries[2]?.id });
        await server.ask({ type: "get_entries", since: "unknown" });
      },
    });
  });

  it("forks, clones, switches and starts sessions the same way", async () => {
    await expectSameOutcome(pis, {
      prepare: withModel,
      async talk(server) {
        await server.ask({ type: "clone" });
        await server.prompt("One");
        const { sessionFile } = await server.data<{ sessionFile: string }>({ type: "get_state" });
        await server.prompt("Two");
        await server.ask({ type: "clone" });
        await askEverything(server);
        await server.prompt("Three");
        const forkable = await server.data<ForkMessages>({ type: "get_fork_messages" });
        expect(forkable.messages.map(({ text }) => text)).toEqual(["One", "Two", "Three"]);
        await server.ask({ type: "fork", entryId: forkable.messages[1]?.entryId });
        await askEverything(server);
        await server.prompt("Two, better");
        await server.ask({ type: "fork", entryId: forkable.messages[0]?.entryId });
        await askEverything(server);
        await server.ask({ type: "fork", entryId: "unknown" });
        await server.prompt("One, better");
        await server.ask({ type: "new_session" });
        await askEverything(server);
        await server.ask({ type: "new_session", parentSession: sessionFile });
        await server.prompt("A child");
        await server.ask({ type: "switch_session", sessionPath: sessionFile });
        await askEverything(server);
        await server.prompt("Back in the first");
      },
    });
  });

  it("compacts the same way, and forks what was compacted", async () => {
    await expectSameOutcome(pis, {
      prepare: withModel,
      async talk(server) {
        await server.ask({ type: "compact" });
        for (const word of ["One", "Two", "Three", "Four"]) {
          await server.prompt(`${word}: ${"filler ".repeat(20)}`);
        }
        await server.ask({ type: "compact", customInstructions: "Be brief." });
        await askEverything(server);
        await server.prompt("Five");
        await server.prompt(`Six: ${"filler ".repeat(20)}`);
        await server.ask({ type: "compact" });
        await askEverything(server);
        await server.ask({ type: "clone" });
        await askEverything(server);
        await server.prompt("Seven");
      },
    });
  });

  it("aborts a running turn the same way", async () => {
    await expectSameOutcome(pis, {
      prepare: withModel,
      async talk(server) {
        await server.prompt("One");
        const { sessionFile } = await server.data<{ sessionFile: string }>({ type: "get_state" });
        await server.begin("Please say nothing");
        await server.ask({ type: "abort" });
        await askEverything(server);
        await server.prompt("Two");
        await server.begin("Please say nothing, again");
        await server.ask({ type: "new_session" });
        await server.begin("Please say nothing in the new session");
        await server.ask({ type: "switch_session", sessionPath: sessionFile });
        await askEverything(server);
        await server.prompt("Three");
      },
    });
  });

  it("exports the same page as its session grows", async () => {
    await expectSameOutcome(pis, {
      prepare: withModel,
      async talk(server, place) {
        await server.ask({ type: "export_html", outputPath: join(place.root, "empty.html") });
        await server.prompt("One");
        await server.ask({ type: "export_html", outputPath: join(place.root, "one.html") });
      },
    });
  });

  it("keeps nothing with --no-session", async () => {
    await expectSameOutcome(pis, {
      async prepare(place) {
        await modelFor(place);
        return ["--no-session"];
      },
      async talk(server) {
        await server.prompt("One");
        await server.prompt("Two");
        await askEverything(server);
        await server.ask({ type: "clone" });
        await askEverything(server);
        const { messages } = await server.data<ForkMessages>({ type: "get_fork_messages" });
        await server.ask({ type: "fork", entryId: messages[1]?.entryId });
        await server.prompt("Two, better");
        await server.ask({ type: "new_session" });
        await askEverything(server);
      },
    });
  });

  it("rejects the same files with the same messages", async () => {
    const bad: Readonly<Record<string, string>> = {
      "no-session.jsonl": '{"type":"message","id":"a"}\n',
      "text.txt": "not a session\n",
      "blank.jsonl": "\n \n",
    };
    await expectSameOutcome(pis, {
      async prepare(place) {
        for (const [name, text] of Object.entries(bad)) {
          writeFileSync(join(place.sessions, name), text);
        }
        writeFileSync(join(place.sessions, "empty.jsonl"), "");
        return withModel(place);
      },
      async talk(server, place) {
        for (const name of [...Object.keys(bad), ".", "empty.jsonl", "missing.jsonl"]) {
          await server.ask({ type: "switch_session", sessionPath: join(place.sessions, name) });
          await server.ask({ type: "get_state" });
        }
        await server.prompt("In the missing file");
      },
    });
  });
});
