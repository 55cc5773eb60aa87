/** Whose log a file is: of records that look alike, and of sessions that are damaged. */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { findSessions, searchSessions } from "@branchlog/library";
import { isBranchlogError, openSession } from "@branchlog/core";
import { importSession } from "@branchlog/tools";
import { fixturePath, sourceOf } from "../../tools/import/imported.ts";

type Line = object | string;

const id = "3c4b3010-27c8-4c70-b6e4-46b99fdf0236";
const timestamp = "2025-08-21T10:00:00.522Z";
const state = { record_type: "state" };
const question = { type: "message", id: null, role: "user", content: [{ text: "Which?" }] };

interface Verdict {
  readonly opened: string | undefined;
  readonly listed: string | undefined;
  readonly searched: string | undefined;
}

/** What opening, lists and searches take a file of these lines for; an error by its code. */
async function verdictOn(lines: readonly Line[], query: string): Promise<Verdict> {
  const path = sourceOf(lines);
  const opened = await openSession(path, { access: "read" }).then(
    ({ transcriptOf }) => transcriptOf ?? "session",
    (error: unknown) => (isBranchlogError(error) ? error.code : String(error)),
  );
  const [listed] = (await findSessions([dirname(path)], { catalog: "off" })).sessions;
  const found: string[] = [];
  for await (const hit of searchSessions(path, query)) found.push(hit.transcriptOf ?? "session");
  return { opened, listed: listed && (listed.transcript?.of ?? "session"), searched: found[0] };
}

const codex = { opened: "codex", listed: "codex", searched: "codex" };
const nothing = { opened: "ERR_NOT_A_SESSION", listed: undefined, searched: undefined };

describe("a file whose records have no envelope", () => {
  it.each<readonly [name: string, lines: readonly Line[]]>([
    ["instructions", [{ id, timestamp, instructions: "Be brief." }, question]],
    ["a repository", [{ id, timestamp, git: { branch: "main" } }, question]],
    ["id and time only", [{ timestamp, id }, state, question]],
  ])("is a rollout of Codex if its first record has %s", async (_name, lines) => {
    expect(await verdictOn(lines, "Which?")).toEqual(codex);
  });

  it.each<readonly [name: string, lines: readonly Line[]]>([
    ["only items of the API", [question, { type: "function_call", name: "f", call_id: "c" }]],
    ["a first record with another key", [{ id, timestamp, instructions: null, v: 1 }, question]],
    ["a first record without a UUID", [{ id: "7", timestamp, instructions: null }, question]],
    ["a state of another kind", [{ record_type: "state", type: "x" }, question]],
  ])("is not a rollout if it has %s", async (_name, lines) => {
    expect(await verdictOn(lines, "Which?")).toEqual(nothing);
    const target = `${sourceOf([])}.imported`;
    await expect(importSession(sourceOf(lines), target)).rejects.toMatchObject({
      code: "ERR_NOT_A_SESSION",
    });
  });
});

describe.each(["pi-linear", "pi-v1", "pi-v2", "omp-18", "seed-omp"])("the session %s", (name) => {
  const [header = "", ...entries] = readFileSync(fixturePath(`${name}.jsonl`), "utf8")
    .split("\n")
    .filter((line) => !line.startsWith('{"type":"title"') && line !== "");
  const meta = JSON.stringify({ id, timestamp, instructions: null });
  const items = [state, question].map((record) => JSON.stringify(record)).join("");

  it("is not a rollout when its header is lost, torn or spliced with records of one", async () => {
    for (const first of [[], [header.slice(0, 40)], [`${meta}${header.slice(0, 40)}${items}`]]) {
      const { opened, listed, searched } = await verdictOn([...first, ...entries], "e");
      expect(opened).toBe("ERR_HEADER_DAMAGED");
      expect(listed).toBeUndefined();
      expect(searched).toBeUndefined();
    }
  });

  it("is a session after damaged lines with records of a rollout", async () => {
    const damaged = [`${header.slice(0, 40)}${meta}`, `{"type":"mess${items}`];
    const { opened, listed, searched } = await verdictOn([...damaged, header, ...entries], "e");
    expect([opened, listed, searched]).toEqual(["session", "session", "session"]);
  });
});
