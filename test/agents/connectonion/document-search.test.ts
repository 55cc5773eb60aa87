/** Documents of ConnectOnion in searches of sessions. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openConnectonion } from "@branchlog/agents/connectonion";
import { searchSessions } from "@branchlog/library";
import type { SearchHit, SearchOptions } from "@branchlog/library";
import { branchlog } from "../../cli/command-run.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath } from "../../tools/import/imported.ts";

const names = ["connectonion-ideal", "connectonion-dumped", "connectonion-nested"];

/** A project whose agent keeps this document. */
function projectWith(name: string): { readonly project: string; readonly path: string } {
  const project = temporaryDirectory();
  mkdirSync(join(project, ".co/sessions"), { recursive: true });
  const path = join(project, ".co/sessions/agent.yaml");
  copyFileSync(fixturePath(`${name}.yaml`), path);
  return { project, path };
}

async function hitsOf(
  place: string,
  query: string,
  options: SearchOptions = {},
): Promise<SearchHit[]> {
  const hits: SearchHit[] = [];
  const searched = searchSessions(place, query, options);
  for await (const hit of searched) hits.push(hit);
  return hits;
}

it.each(names)("the turns of %s are found, each with its number", async (name) => {
  const { project, path } = projectWith(name);
  const { turns, document } = await openConnectonion(path);
  expect(turns.length).toBeGreaterThan(1);
  for (const { turn, input } of turns) {
    const hits = await hitsOf(project, input, { kinds: ["message"], role: "user" });
    expect(hits.map(({ entryId }) => entryId)).toContain(`turn:${turn}`);
    expect(hits[0]).toMatchObject({
      path,
      header: { id: document.name, cwd: project },
      transcriptOf: "connectonion",
    });
  }
});

it("calls and results are found under their kinds, times and agents are filters", async () => {
  const { project } = projectWith("connectonion-ideal");
  const [result] = await hitsOf(project, "File written", { kinds: ["result"], tool: "write" });
  expect(result).toMatchObject({ entryId: "turn:2#2", kind: "result", tool: "write" });
  expect(await hitsOf(project, "hello.py", { kinds: ["call"] })).toHaveLength(1);
  expect(await hitsOf(project, "hello.py", { agents: ["pi", "codex"] })).toEqual([]);
  expect(await hitsOf(project, "hello.py", { agents: ["connectonion"] })).not.toEqual([]);
  expect(await hitsOf(project, "hello.py", { sinceMs: Date.parse("2025-12-04") })).toEqual([]);
});

it("other YAML files are not read, and a damaged document is reported by the command", async () => {
  const { project, path } = projectWith("connectonion-ideal");
  writeFileSync(join(project, ".co/sessions/other.yaml"), "name: hello.py\nservices: {}\n");
  const damaged = join(project, ".co/sessions/damaged.yaml");
  writeFileSync(damaged, "name: d\nturns:\n- turn: 1\n  input: 'hello.py\n");
  const { code, out, err } = await branchlog(["search", "hello.py", project]);
  expect(code).toBe(0);
  expect(out).toContain(path);
  expect(err).toMatch(/^not searched: .*damaged\.yaml/m);
  expect(err.trimEnd().split("\n")).toHaveLength(1);
});
