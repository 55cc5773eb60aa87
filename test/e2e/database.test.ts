/** Proof by a real client: pi on our session layer keeps its sessions in a database. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import "@branchlog/postgres/blocking";
import type { PostgresStore } from "@branchlog/postgres";
import { DatabaseServer, hasPostgres } from "../postgres/database-server.ts";
import { modelFor } from "./support/model-server.ts";
import { latestPiPackage, piPackage, workspace } from "./support/install.ts";
import { bothPis } from "./support/pi-program.ts";
import type { PiProgram } from "./support/pi-program.ts";
import { PiServer, runPi } from "./support/pi-run.ts";
import { sandbox } from "./support/sandbox.ts";
import type { Sandbox } from "./support/sandbox.ts";

const pis = bothPis();

interface State {
  readonly sessionId: string;
  readonly sessionFile: string;
}

describe.skipIf(!hasPostgres())("pi with a store for a session directory", () => {
  let server: DatabaseServer;
  let store: PostgresStore;
  let url: string;

  beforeAll(async () => {
    server = await DatabaseServer.start();
    const schema = server.newSchema();
    store = await server.store({ schema });
    url = server.url(schema);
  });
  afterAll(() => server.remove());

  function pi(): PiProgram {
    const blocking = new URL("../../packages/postgres/dist/blocking.js", import.meta.url).href;
    return { ...pis.replaced, imports: [blocking] };
  }

  async function textsIn(id: string): Promise<string> {
    const session = await openSession({ store, id });
    expect(session.diagnostics).toEqual([]);
    const { messages } = await session.context();
    return JSON.stringify(messages);
  }

  async function prepared(): Promise<Sandbox> {
    const place = sandbox();
    await modelFor(place);
    return place;
  }

  it("works, continues, forks, and lists its sessions there, without a file", async () => {
    const place = await prepared();
    const model = ["--provider", "here", "--model", "echo"];
    const first = PiServer.start(pi(), place, ["--session-dir", url, ...model]);
    await first.prompt("One");
    await first.prompt("Please run: echo two");
    const { sessionId, sessionFile } = await first.data<State>({ type: "get_state" });
    expect(sessionFile).not.toContain("secret");
    await first.kill();
    expect(await textsIn(sessionId)).toContain("The tool said: two");

    // Another process, as on another machine.
    await runPi(pi(), place, ["--session-dir", url, ...model, "--continue", "-p", "Three"]);
    await runPi(pi(), place, [
      "--session-dir",
      url,
      ...model,
      "--session",
      sessionId,
      "-p",
      "Four",
    ]);
    const texts = await textsIn(sessionId);
    expect(texts).toMatch(/"One".*"Three".*"Four"/);

    const other = PiServer.start(pi(), place, ["--session-dir", url, ...model]);
    await other.ask({ type: "switch_session", sessionPath: sessionFile });
    expect(await other.data<State>({ type: "get_state" })).toMatchObject({ sessionId });
    // Pi looks for a file before it forks from within; see docs/postgres.md.
    const { messages } = await other.data<{ messages: readonly { entryId: string }[] }>({
      type: "get_fork_messages",
    });
    const entryId = messages.at(-1)?.entryId;
    expect(await other.ask({ type: "fork", entryId })).toMatchObject({ success: false });
    await other.end();
    await runPi(pi(), place, ["--session-dir", url, ...model, "--fork", sessionId, "-p", "Five"]);
    const [forked] = (await SessionManager.listAll(url)).filter(({ id }) => id !== sessionId);
    expect(forked).toMatchObject({ parentSessionPath: sessionFile });
    expect(await textsIn(forked?.id ?? "")).toMatch(/"One".*"Five"/);
    expect(await textsIn(sessionId)).not.toContain("Five");
    expect(readdirSync(place.sessions)).toEqual([]);
  });

  it("works unchanged as branchlog pi, without a file", async () => {
    const place = await prepared();
    for (const packageFolder of [piPackage(), latestPiPackage()]) {
      const real = { ...pis.original, packageFolder, imports: [hooksFor(packageFolder, url)] };
      const model = ["--provider", "here", "--model", "echo", "--session-dir", url];
      const first = PiServer.start(real, place, model);
      await first.prompt("Seven");
      const { sessionId } = await first.data<State>({ type: "get_state" });
      await first.kill();
      await runPi(real, place, [...model, "--session", sessionId, "-p", "Eight"]);
      expect(await textsIn(sessionId)).toMatch(/"Seven".*"Eight"/);
      expect(readdirSync(place.cwd)).toEqual([]);
      expect(readdirSync(place.sessions)).toEqual([]);
    }
  });
});

/** The module that the command has Node load before pi. */
function hooksFor(packageFolder: string, url: string): string {
  const bin = join(dirname(dirname(packageFolder)), ".bin");
  const program = join(workspace, "packages/branchlog/bin/branchlog.mjs");
  const words = ["pi", "--json", "--session-dir", url];
  const env = { ...process.env, PATH: bin };
  const said = execFileSync(process.execPath, [program, ...words], { env, encoding: "utf8" });
  const { command } = JSON.parse(said) as { readonly command: readonly string[] };
  return command[2] ?? "";
}
