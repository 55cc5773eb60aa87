/** Proof by a real client: sessions go back and forth between pi and pi on our session layer. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { differences } from "./support/difference.ts";
import { modelFor } from "./support/model-server.ts";
import { NormalForm } from "./support/normal-form.ts";
import { bothPis } from "./support/pi-program.ts";
import type { PiProgram } from "./support/pi-program.ts";
import { PiServer } from "./support/pi-run.ts";
import { look, terse } from "./support/rpc-comparison.ts";
import { sandbox, sessionFiles, sessionFromFixture } from "./support/sandbox.ts";
import type { Sandbox } from "./support/sandbox.ts";

const pis = bothPis();

type Turn = (server: PiServer) => Promise<void>;

const turns: readonly Turn[] = [
  async (server) => {
    await server.prompt("One");
    await server.prompt("Please run: echo two");
    await server.ask({ type: "bash", command: "echo three" });
  },
  async (server) => {
    await server.ask({ type: "set_session_name", name: "Named" });
    await server.prompt(`Four: ${"filler ".repeat(30)}`);
    await server.prompt(`Five: ${"filler ".repeat(30)}`);
    await server.ask({ type: "compact" });
  },
  async (server) => {
    await server.prompt("Six");
    const { messages } = await server.data<{ messages: readonly { entryId: string }[] }>({
      type: "get_fork_messages",
    });
    await server.ask({ type: "fork", entryId: messages.at(-1)?.entryId });
    await server.prompt("Six, better");
  },
  async (server) => {
    await server.prompt("Seven");
    await server.ask({ type: "clone" });
  },
  async () => {},
];

const model: readonly string[] = ["--provider", "here", "--model", "echo"];

/** The turns of one session, each with the next program; every second one is killed at its end. */
async function exchange(programs: readonly PiProgram[], stored?: string): Promise<object> {
  const place = sandbox();
  await modelFor(place);
  if (stored !== undefined) sessionFromFixture(place, stored);
  const form = new NormalForm(place, [...sessionFiles(place.root).values()]);
  const transcripts: unknown[] = [];
  for (const [i, turn] of turns.entries()) {
    const pi = programs[i % programs.length] ?? pis.original;
    const args = [...terse, ...model, "--session-dir", place.sessions, "--continue"];
    const server = PiServer.start(pi, place, args);
    await look(server);
    await turn(server);
    await look(server);
    await (i % 2 === 0 ? server.end() : server.kill());
    transcripts.push(server.transcript.filter(({ type }) => !type.endsWith("_update")));
  }
  return { transcripts: form.of(transcripts), files: form.files() };
}

async function filesOfBoth(place: Sandbox, file: string, rounds: number): Promise<string> {
  const args = [...terse, "--session", file];
  const servers = [pis.original, pis.replaced].map((pi) => PiServer.start(pi, place, args));
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(servers.map((server, i) => server.prompt(`Round ${round} of ${i}`)));
  }
  for (const server of servers) await server.end();
  return readFileSync(file, "utf8");
}

describe("Verifies: P20. Sessions continued alternately by pi and pi on Branchlog", () => {
  it("equal those of pi alone", async () => {
    const published = await exchange([pis.original]);
    expect(differences(published, await exchange([pis.replaced, pis.original]))).toEqual([]);
    expect(differences(published, await exchange([pis.original, pis.replaced]))).toEqual([]);
  });

  it.each(["realistic-session", "pi-v1"])("equal those of pi alone from %s on", async (name) => {
    const published = await exchange([pis.original], name);
    const ours = await exchange([pis.replaced, pis.original], name);
    expect(differences(published, ours)).toEqual([]);
  });
});

it("Verifies: P11. A session open in both has every message of each exactly once", async () => {
  const place = sandbox();
  await modelFor(place);
  const file = sessionFromFixture(place, "pi-linear");
  const before = readFileSync(file, "utf8");
  const after = await filesOfBoth(place, file, 5);
  expect(after.startsWith(before)).toBe(true);
  const records = after
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Stored);
  const ids = new Set(records.map(({ id }) => id));
  expect(ids.size).toBe(records.length);
  expect(records.filter(({ parentId }) => parentId && !ids.has(parentId))).toEqual([]);
  const said = records.map((record) => JSON.stringify(record.message?.content) ?? "");
  for (let round = 0; round < 5; round += 1) {
    for (const who of [0, 1]) {
      expect(said.filter((text) => text.includes(`Round ${round} of ${who}`))).toHaveLength(1);
    }
  }
});

it("A prompt during which pi is killed is in the file of pi on Branchlog, and continued by pi", async () => {
  const filesAfter = async (pi: PiProgram): Promise<readonly [Sandbox, readonly string[]]> => {
    const place = sandbox();
    await modelFor(place);
    const server = PiServer.start(pi, place, [...terse, "--session-dir", place.sessions]);
    await server.begin("Please say nothing");
    await server.kill();
    return [place, [...sessionFiles(place.sessions).values()]];
  };
  // Until 0.99.0 pi wrote its file with the first answer.
  const [, lost] = await filesAfter(pis.original);
  expect(lost).toEqual([]);
  const [place, kept] = await filesAfter(pis.replaced);
  expect(kept).toEqual([expect.stringContaining("Please say nothing")]);

  const next = ["--session-dir", place.sessions, "--continue"];
  const server = PiServer.start(pis.original, place, [...terse, ...next]);
  const { messages } = await server.data<{ messages: unknown[] }>({ type: "get_messages" });
  expect(JSON.stringify(messages)).toContain("Please say nothing");
  await server.prompt("And now?");
  await server.end();
});

interface Stored {
  readonly id: string;
  readonly parentId?: string | null;
  readonly message?: { readonly content: unknown };
}
