/** Proof by a real client: pi finds, opens, forks and lists the same sessions when it starts. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { differences } from "./support/difference.ts";
import { modelFor } from "./support/model-server.ts";
import { NormalForm } from "./support/normal-form.ts";
import { bothPis } from "./support/pi-program.ts";
import type { PiProgram } from "./support/pi-program.ts";
import { PiServer, runPi } from "./support/pi-run.ts";
import { terse } from "./support/rpc-comparison.ts";
import { sandbox, sessionFiles, sessionFromFixture } from "./support/sandbox.ts";
import type { Sandbox } from "./support/sandbox.ts";

const pis = bothPis();

/** Starts pi again and again in one sandbox; what it says each time, and what is left. */
async function startsOf(
  pi: PiProgram,
  prepare: (place: Sandbox) => void,
  starts: readonly ((place: Sandbox) => readonly string[])[],
): Promise<object> {
  const place = sandbox();
  await modelFor(place);
  prepare(place);
  const form = new NormalForm(place, [...sessionFiles(place.sessions).values()]);
  const said: unknown[] = [];
  for (const argumentsFor of starts) said.push(await start(pi, place, argumentsFor(place)));
  return { said: form.of(said), files: form.files() };
}

async function start(pi: PiProgram, place: Sandbox, args: readonly string[]): Promise<unknown> {
  const model = ["--provider", "here", "--model", "echo"];
  if (args.includes("--print")) {
    return runPi(pi, place, [...terse, ...model, ...args]).catch(
      ({ stdout, stderr }: object & Output) => ({ stdout, stderr }),
    );
  }
  const server = PiServer.start(pi, place, [...terse, ...model, ...args]);
  try {
    for (const type of ["get_state", "get_entries", "get_messages"]) await server.ask({ type });
    await server.prompt("Go on");
  } catch (error) {
    return String(error);
  }
  await server.end();
  return server.transcript;
}

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

async function expectSameStarts(
  prepare: (place: Sandbox) => void,
  starts: readonly ((place: Sandbox) => readonly string[])[],
): Promise<void> {
  const published = await startsOf(pis.original, prepare, starts);
  const ours = await startsOf(pis.replaced, prepare, starts);
  expect(differences(published, ours)).toEqual([]);
}

describe("Verifies: P20. pi when it starts", () => {
  it("keeps sessions in the same directory, and continues the last one", async () => {
    await expectSameStarts(() => {}, [
      () => ["--print", "Hello"],
      () => ["--continue"],
      () => ["--session-id", "my.own-id_1", "--name", "Mine"],
      () => ["--session-id", "my.own-id_1", "--print", "Again"],
      () => ["--session", "my.own"],
      () => ["--session-id", "-bad-", "--print", "Not accepted"],
      () => ["--session", "unknown", "--print", "Not found"],
    ]);
  });

  it("opens and forks the sessions of a directory, of any version", async () => {
    const names = ["realistic-session", "pi-branches", "pi-v1", "pi-v2"];
    const flat = (place: Sandbox): string[] => ["--session-dir", place.sessions];
    const path = (place: Sandbox, name: string): string => join(place.sessions, `${name}.jsonl`);
    await expectSameStarts(
      (place) => {
        for (const name of names) sessionFromFixture(place, name);
      },
      [
        (place) => [...flat(place), "--session", path(place, "pi-v1")],
        (place) => [...flat(place), "--session", path(place, "pi-v2"), "--print", "Hello"],
        (place) => [...flat(place), "--fork", path(place, "realistic-session")],
        (place) => [...flat(place), "--fork", path(place, "pi-branches"), "--print", "Forked"],
        (place) => [...flat(place), "--session", "019e8232"],
        (place) => [...flat(place), "--continue", "--print", "The last one"],
        (place) => [...flat(place), "--session", join(place.sessions, "new.jsonl")],
      ],
    );
  });
});
