/** What lists know of sessions of omp: whose they are, and what they are called. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { readSessionFacts } from "./read-facts.ts";
import { large, list } from "./saved-directory.ts";
import { entry, header, jsonl, name, user, writeLines } from "./session-lines.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { titleSlotOf } from "../../../packages/core/src/dialects/title-slot.ts";

/** A title slot as omp writes it: 256 bytes with its newline. */
function slot(title: string): string {
  const fields = { type: "title", v: 1, title, updatedAt: "2026-01-01T00:00:00.000Z" };
  const bare = JSON.stringify({ ...fields, pad: "" });
  return JSON.stringify({ ...fields, pad: " ".repeat(255 - Buffer.byteLength(bare)) });
}

const title = (text: unknown): object => entry("title_change", { title: text, source: "user" });

async function factsOf(...lines: readonly (object | string)[]) {
  return readSessionFacts(writeLines(temporaryDirectory(), "s.jsonl", lines));
}

describe("the name of a session", () => {
  it.each([
    ["its slot", [slot("Slot"), header({ title: "Header" }), title("Entry")], "Slot"],
    ["the latest entry", [header({ title: "Header" }), name("pi"), title(" omp ")], "omp"],
    ["the latest entry, of pi", [slot(""), header(), title("omp"), name("pi")], "pi"],
    ["its header", [header({ title: " Header " }), user("x")], "Header"],
    ["nothing, if an entry took it away", [header({ title: "Header" }), title("")], undefined],
    ["nothing, if the slot is empty", [slot(""), header({ title: "Header" })], undefined],
    ["nothing, if the title is not a string", [header({ title: 5 })], undefined],
  ])("is that of %s", async (_, lines, expected) => {
    expect((await factsOf(...lines))?.name).toBe(expected);
  });

  it("is read only from a slot of the right form", () => {
    const value = JSON.parse(slot(" T ")) as Record<string, never>;
    expect(titleSlotOf(value)?.title).toBe(" T ");
    for (const key of ["v", "title", "updatedAt", "pad"]) {
      expect(titleSlotOf({ ...value, [key]: true })).toBeUndefined();
    }
    expect(titleSlotOf({ ...value, source: "auto" })?.source).toBe("auto");
    expect(titleSlotOf({ ...value, source: "else" })).toBeUndefined();
  });

  it.each([
    ["a blank line", (at: string) => `\n${at}`],
    ["a byte-order mark", (at: string) => `\uFEFF${at}`],
    [
      "another order of keys",
      (at: string) => at.replace('{"type":"title","v":1', '{"v":1,"type":"title"'),
    ],
  ])("equals that of opening when the slot follows %s", async (_, moved) => {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, `${moved(slot("Slot"))}\n${jsonl([header(), user("x")])}`);
    const session = await openSession(path, { access: "read" });
    const facts = await readSessionFacts(path);
    expect([facts?.name, facts?.dialect]).toEqual([session.name, session.dialect]);
  });

  it("changes when the slot is overwritten in place", async () => {
    const directory = temporaryDirectory();
    const path = writeLines(directory, "s.jsonl", [slot("One"), header(), user("x")]);
    expect((await list(directory))[0]?.name).toBe("One");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, `${slot("Two")}${text.slice(255)}`);
    expect((await list(directory))[0]?.name).toBe("Two");
  });
});

it.each([
  ["pi", [header(), user("x"), name("N"), entry("model_change", { provider: "p", modelId: "m" })]],
  ["omp", [slot(""), header()]],
  ["omp", [header({ title: "T" })]],
  ["omp", [header(), entry("model_change", { model: "p/m" })]],
  ["omp", [header(), user("x"), entry("ttsr_injection", { injectedRules: [] })]],
  ["omp", [header(), title("T"), user("x")]],
])("a session is recognised as %s's by its traces", async (dialect, lines) => {
  expect((await factsOf(...lines))?.dialect).toBe(dialect);
});

it("a session of omp read incrementally equals a full read (Verifies: P21)", async () => {
  const line = fc.oneof(
    fc.constantFrom("A", "B", "").map((text) => title(text)),
    fc.constantFrom("C", "").map((text) => name(text)),
    fc.constant(user("said")),
    fc.constant(entry("model_change", { model: "p/m" })),
  );
  const head = fc.constantFrom([header()], [header({ title: "H" })], [slot("S"), header()]);
  const lines = fc.array(line, { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(head, lines, lines, async (first, before, after) => {
      const directory = temporaryDirectory();
      const path = writeLines(directory, "s.jsonl", [...first, large, ...before]);
      await list(directory);
      appendFileSync(path, jsonl(after));
      const [session] = await list(directory);
      const facts = await readSessionFacts(join(directory, "s.jsonl"));
      expect([session?.name, session?.dialect]).toEqual([facts?.name, facts?.dialect]);
      expect(session?.summary).toEqual(facts?.summary);
    }),
    { numRuns: 25 },
  );
});
