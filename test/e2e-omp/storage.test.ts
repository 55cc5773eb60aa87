/** omp's own session manager on our storage, on Bun: files, several processes, PostgreSQL. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { DatabaseServer, hasPostgres } from "../postgres/database-server.ts";
import { collected } from "../support/collected.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { faceUrl, ompProblem, sdkUrl, runOnBun, startOnBun } from "./support/omp-program.ts";

const problem = ompProblem();
const program = "on-our-storage.mjs";
const begun = {
  name: "The red build",
  entries: 6,
  listed: [{ title: "The red build", messageCount: 5 }],
};

describe.skipIf(problem !== undefined)(`omp on our storage ${problem ?? ""}`, () => {
  it("creates, names, branches, opens and lists a session in files", async () => {
    const [home, directory] = [temporaryDirectory(), join(temporaryDirectory(), "sessions")];
    const said = runOnBun("omp", home, program, faceUrl, "begin", directory) as typeof begun & {
      readonly path: string;
      readonly text: string;
    };
    expect(said).toMatchObject(begun);
    expect(readFileSync(said.path, "utf8")).toBe(said.text);
    const session = await openSession(said.path);
    expect(session.name).toBe("The red build");
    expect(session.tips()).toHaveLength(2);
    await session.close();
    // omp says the same of the file through its own storage, and our face.
    const [theirs, ours] = (["omp", "ours"] as const).map((side) =>
      runOnBun(side, home, "describe.mjs", said.path, directory),
    );
    expect(theirs).toMatchObject({ name: "The red build" });
    expect(ours).toMatchObject({ name: "The red build" });
  });

  it("loses no turn of two processes on one session, after the rest of a killed write", async () => {
    const [home, directory] = [temporaryDirectory(), join(temporaryDirectory(), "sessions")];
    const { path } = runOnBun("omp", home, program, faceUrl, "begin", directory) as {
      readonly path: string;
    };
    const before = readFileSync(path);
    const torn = Buffer.from('{"type":"message","id":"torn","message":{"content":"ä').subarray(
      0,
      -1,
    );
    writeFileSync(path, Buffer.concat([before, torn]));
    await Promise.all(
      ["a", "b"].map((name) =>
        startOnBun("omp", home, program, faceUrl, "turns", path, name, "40"),
      ),
    );
    const bytes = readFileSync(path);
    expect(bytes.subarray(0, before.length + torn.length)).toEqual(Buffer.concat([before, torn]));
    const lines = bytes
      .subarray(before.length + torn.length + 1)
      .toString()
      .split("\n");
    const texts = lines.slice(0, -1).map((one) => (JSON.parse(one) as Line).message?.content);
    const named = (name: string) => Array.from({ length: 40 }, (_, i) => `${name}-${i}`);
    expect(texts.filter((text) => text?.startsWith("a-"))).toEqual(named("a"));
    expect(texts.filter((text) => text?.startsWith("b-"))).toEqual(named("b"));
  });
});

describe.skipIf(problem !== undefined)("omp's agent on our session manager", () => {
  it("starts and ends a session", () => {
    const [home, directory] = [temporaryDirectory(), join(temporaryDirectory(), "sessions")];
    const said = runOnBun("ours", home, "agent-session.mjs", sdkUrl, directory);
    expect(said).toEqual({ isSame: true, directories: [directory] });
  });
});

interface Line {
  readonly message?: { readonly content: string };
}

describe.skipIf(problem !== undefined || !hasPostgres())("omp on our storage in PostgreSQL", () => {
  let server: DatabaseServer;

  beforeAll(async () => {
    server = await DatabaseServer.start();
  });
  afterAll(() => server.remove());

  it("creates, names, branches, opens and lists a session, like in a file", async () => {
    const schema = server.newSchema();
    const store = await server.store({ schema });
    const address = server.url(schema);
    const words = [program, faceUrl, "begin", "/work/sessions", address] as const;
    const said = runOnBun("omp", temporaryDirectory(), ...words) as { readonly text: string };
    expect(said).toMatchObject(begun);
    const [name = ""] = await collected(store.names());
    expect(name).toMatch(/^omp\._2fwork_2fsessions\..*_2ejsonl$/);
    const path = join(temporaryDirectory(), "pulled.jsonl");
    await store.pull(name, path);
    expect(readFileSync(path, "utf8")).toBe(said.text);
    const session = await openSession({ store, id: name });
    expect(session.name).toBe("The red build");
  });
});
