/** What callers pass in: a value that cannot be meant is refused, and nothing is written. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { AppendOptions, EntryDraft, EntryQuery, OpenOptions, Session } from "@branchlog/core";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const refused = { code: "ERR_INVALID_ARGUMENT" };

async function newSession(): Promise<Session> {
  return createSession(join(temporaryDirectory(), "s.jsonl"), { cwd: "/w" });
}

/** As given by a caller without types. */
const asOptions = (value: unknown): OpenOptions => value as OpenOptions;
const asPath = (value: unknown): string => value as string;
const asAppendOptions = (value: unknown): AppendOptions => value as AppendOptions;
const asDraft = (value: unknown): EntryDraft => value as EntryDraft;
const asDrafts = (value: unknown): readonly EntryDraft[] => value as readonly EntryDraft[];
const asQuery = (value: unknown): EntryQuery => value as EntryQuery;

describe("opening a session", () => {
  const options: readonly unknown[] = [
    null,
    "read",
    { access: "readonly" },
    { access: null, checkpoint: "yes" },
    { allowNewerVersion: "no" },
    { lockWaitMs: Number.NaN },
    { lockWaitMs: "300" },
    { lockWaitMs: -1 },
    { bodyCacheBytesMax: -1 },
    { queuedBytesMax: -5 },
    { batchBytesMax: "x" },
    { lineBytesMax: 0 },
    { checkpointEveryBytes: "8" },
    { checkpoint: "yes" },
    { checkpointDir: 5 },
    { checkpointDir: "" },
    { durability: "dsik" },
    { durability: { intervalMs: "5" } },
    { durability: null, pollMs: 0 },
    { pollMs: Number.NaN },
    { dialect: "" },
  ];

  it.each(options.map((one) => [JSON.stringify(one), one]))("refuses %s", async (_, given) => {
    const { path } = await newSession();
    const opening = openSession(path, asOptions(given));
    await expect(opening).rejects.toMatchObject(refused);
    const other = createSession(`${path}.other`, asOptions(given));
    await expect(other).rejects.toMatchObject(refused);
  });

  it.each([undefined, null, "", 5, new URL("file:///tmp/s.jsonl")])(
    "refuses the path %s",
    async (path) => {
      await expect(openSession(asPath(path))).rejects.toMatchObject(refused);
      await expect(createSession(asPath(path))).rejects.toMatchObject(refused);
    },
  );

  it("refuses a working directory and a parent that are no text", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    for (const given of [{ cwd: 5 }, { parentSession: { a: 1 } }]) {
      const creating = createSession(path, asOptions(given));
      await expect(creating).rejects.toMatchObject(refused);
    }
  });

  it("names the option and what it can be", async () => {
    const { path } = await newSession();
    const opening = openSession(path, asOptions({ access: "readonly" }));
    await expect(opening).rejects.toThrow('access must be "read" or "append", not "readonly"');
  });
});

describe("appending", () => {
  const user: EntryDraft = {
    type: "message",
    message: { role: "user", content: "Hi", timestamp: 0 },
  };
  const options: readonly unknown[] = [
    null,
    "tail",
    { parent: "tial" },
    { parent: "12345678" },
    { parent: {} },
    { parent: { id: 5 } },
    { parent: null, id: 5 },
    { id: "" },
    { onDiverged: "rejct" },
    { expectedTail: 5 },
  ];

  it.each(options.map((one) => [JSON.stringify(one), one]))("refuses %s", async (_, given) => {
    const session = await newSession();
    const before = readFileSync(session.path);
    const appending = session.append(user, asAppendOptions(given));
    await expect(appending).rejects.toMatchObject(refused);
    expect(readFileSync(session.path)).toEqual(before);
  });

  it.each([
    { type: "compaction", summary: "S", firstKeptEntryID: "a", tokensBefore: 5 },
    { type: "compaction", summary: "S", firstKeptEntryId: "a", tokensBefore: "5" },
    { type: "compaction", firstKeptEntryId: null, tokensBefore: 5 },
    { type: "compaction", summary: "S", firstKeptEntryId: null, tokensBefore: Number.NaN },
    { type: "label", targetID: "a", label: "x" },
    { type: "session_info", nmae: "x" },
    { type: "model_change", provider: "p" },
    { type: "model_change", model: 5 },
    { type: "thinking_level_change" },
    { type: "custom", data: 1 },
    { type: "custom_message", customType: "x", content: { text: "x" }, display: true },
    { type: "branch_summary", summary: "S" },
    { type: "usage", kind: "x", provider: "p", model: "m" },
    { type: "context_edit", targetId: "a" },
  ])("refuses %j, which would say something else for good", async (draft) => {
    const session = await newSession();
    const before = readFileSync(session.path);
    await expect(session.append(asDraft(draft))).rejects.toMatchObject(refused);
    const both = session.appendAll([user, asDraft(draft)]);
    await expect(both).rejects.toMatchObject(refused);
    expect(readFileSync(session.path)).toEqual(before);
  });

  it.each([
    { type: "compaction", summary: "", firstKeptEntryId: null, tokensBefore: 0, more: 1 },
    { type: "model_change", model: "p/m" },
    { type: "thinking_level_change", thinkingLevel: null },
    { type: "custom", customType: "x" },
    { type: "custom_message", customType: "x", content: [], display: false },
    { type: "context_edit", targetId: "", replacement: null },
    { type: "x:of_another_program" },
  ])("takes %j", async (draft) => {
    const session = await newSession();
    const { id } = await session.append(asDraft(draft));
    expect(await session.entry(id)).toMatchObject({ type: draft.type });
  });

  it("refuses drafts that are no list, and names the field that is missing", async () => {
    const session = await newSession();
    const none = session.appendAll(asDrafts(undefined));
    await expect(none).rejects.toMatchObject(refused);
    const nameless = session.append(asDraft({ type: "session_info", nmae: "x" }));
    await expect(nameless).rejects.toThrow(
      "name of a session_info entry must be a text, but there is none",
    );
  });
});

describe("asking for entries", () => {
  it.each([null, "branch", { on: "brnch" }, { from: 0 }])("refuses %j", async (query) => {
    const session = await newSession();
    const reading = async (): Promise<unknown> => session.entries(asQuery(query)).next();
    await expect(reading()).rejects.toMatchObject(refused);
  });
});
