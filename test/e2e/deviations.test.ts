/**
 * Where the drop-in differs from the newest pi on purpose, each shown on both: pi loses something
 * there, or hides it, or never ends.
 */
import { describe, expect, it } from "vitest";
import type { Operation, Script } from "./differential/operation.ts";
import { bothSides, newest, startMs } from "./differential/references.ts";

/** What a report says, as far as it is checked here. */
interface Facts {
  readonly steps: readonly { readonly result?: unknown; readonly error?: string }[];
  readonly end: {
    readonly header: Readonly<Record<string, unknown>>;
    readonly entries: readonly Readonly<Record<string, unknown>>[];
    readonly tree: readonly { readonly entry: { readonly id: string } }[];
    readonly context: { readonly messages: readonly { readonly content?: unknown }[] };
    readonly listed: readonly { readonly messageCount: number; readonly name?: string }[];
    readonly files: readonly (readonly [path: string, text: string])[];
  };
}

/** Both facts of a script, with nothing kept out of the way. */
async function factsOf(script: Partial<Script>): Promise<readonly [theirs: Facts, ours: Facts]> {
  const sides = await bothSides({ ...newest, tolerated: [] });
  const run = sides.map(async (side) => side.run({ nowMs: startMs(), steps: [], ...script }));
  // Decoding boundary: reports of the driver.
  return (await Promise.all(run)) as [Facts, Facts];
}

const steps = (...operations: readonly Operation[]): Script["steps"] =>
  operations.map((operation) => ({ operation, laterMs: 1 }));
const user = (content: string): Operation => ({
  do: "message",
  message: { role: "user", content, timestamp: 1_600_000_000_000 },
});
const lines = (...records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");
const header = {
  type: "session",
  version: 3,
  id: "stored",
  timestamp: "2024-01-01T00:00:00.000Z",
  cwd: "$ROOT",
};
const said = (id: string, parentId: string | null, content: unknown): object => ({
  type: "message",
  id,
  parentId,
  timestamp: "2024-01-01T00:00:01.000Z",
  message: { role: "user", content, timestamp: 1 },
});
const texts = ({ end }: Facts): readonly unknown[] =>
  end.context.messages.map(({ content }) => content);

describe("Unlike pi, the drop-in", () => {
  it("keeps a name that was set on another branch when a branch is extracted", async () => {
    const script = steps(
      user("One"),
      { do: "name", name: "Named" },
      { do: "branch", to: 0 },
      user("Two"),
      { do: "extract", leaf: 2 },
    );
    const [theirs, ours] = await factsOf({ steps: script });
    expect(theirs.end.entries.map(({ type }) => type)).toEqual(["message", "message"]);
    expect(ours.end.entries.map(({ type }) => type)).toEqual([
      "message",
      "message",
      "session_info",
    ]);
    expect(ours.end.entries[2]?.["name"]).toBe("Named");
  });

  it("keeps header fields of other programs when a session is forked", async () => {
    const stored = lines({ ...header, metadata: { by: "host" } }, said("a", null, "One"));
    const [theirs, ours] = await factsOf({ stored, steps: steps({ do: "fork" }) });
    expect(theirs.end.header["metadata"]).toBeUndefined();
    expect(ours.end.header["metadata"]).toEqual({ by: "host" });
  });

  it("keeps the history of an old file when it is forked", async () => {
    const { version: _, ...oldHeader } = header;
    const message = (content: string): object => ({
      type: "message",
      timestamp: "2024-01-01T00:00:01.000Z",
      message: { role: "user", content },
    });
    const stored = lines(oldHeader, message("One"), message("Two"));
    const [theirs, ours] = await factsOf({ stored, isForked: true });
    expect(texts(theirs)).toEqual(["Two"]);
    expect(texts(ours)).toEqual(["One", "Two"]);
  });

  it("does not write when it opens a file", async () => {
    const stored = lines({ ...header, cwd: "/" }, said("a", null, "One")).trimEnd();
    const [theirs, ours] = await factsOf({ stored });
    expect(theirs.end.files.map(([, text]) => text)).toEqual([`${stored}\n`]);
    expect(ours.end.files.map(([, text]) => text)).toEqual([stored]);
  });

  it("opens a file with a byte-order mark", async () => {
    const stored = `\uFEFF${lines(header, said("a", null, "One"))}`;
    await expect(factsOf({ stored })).rejects.toThrow("not a valid pi session");
    const [, ours] = await bothSides({ ...newest, tolerated: [] });
    const facts = (await ours.run({ nowMs: startMs(), steps: [], stored })) as Facts;
    expect(texts(facts)).toEqual(["One"]);
  });

  it("ends every path, unlike pi, which walks a cycle until out of memory", async () => {
    const stored = lines(header, said("a", "b", "One"), said("b", "a", "Two"));
    const [, ours] = await bothSides({ ...newest, tolerated: [] });
    const facts = (await ours.run({ nowMs: startMs(), steps: [], stored })) as Facts;
    expect(texts(facts)).toEqual(["One", "Two"]);
  });

  it("counts messages with U+2028 in a list", async () => {
    const [theirs, ours] = await factsOf({ steps: steps(user("One"), user("Two\u2028lines")) });
    expect(theirs.end.listed.map(({ messageCount }) => messageCount)).toEqual([1]);
    expect(ours.end.listed.map(({ messageCount }) => messageCount)).toEqual([2]);
  });

  it("lists a session with a message that has no content", async () => {
    const stored = lines(header, said("a", null, "One"), said("b", "a", null));
    const [theirs, ours] = await factsOf({ stored });
    expect(theirs.end.listed).toEqual([]);
    expect(ours.end.listed.map(({ messageCount }) => messageCount)).toEqual([2]);
  });

  it("shows an id that repeats once in the tree, where its last entry is", async () => {
    const root = lines(header, said("a", null, "One"), said("b", "a", "Two"), said("a", null, "!"));
    const [theirs, ours] = await factsOf({ stored: root });
    expect(theirs.end.tree.map(({ entry }) => entry.id)).toEqual(["a", "a"]);
    expect(ours.end.tree.map(({ entry }) => entry.id)).toEqual(["a"]);
    expect(ours.end.entries).toHaveLength(3);
  });

  it("builds a context around a message that is null", async () => {
    const broken = { ...said("b", "a", ""), message: null };
    const stored = lines(header, said("a", null, "One"), broken, said("c", "b", "Two"));
    await expect(factsOf({ stored })).rejects.toThrow("reading 'role'");
    const [, ours] = await bothSides({ ...newest, tolerated: [] });
    const facts = (await ours.run({ nowMs: startMs(), steps: [], stored })) as Facts;
    expect(texts(facts)).toEqual(["One", "Two"]);
  });

  it("keeps the prompt in a compaction though its message has no time", async () => {
    const system = { role: "system", content: "be brief" };
    const script = steps({ do: "message", message: system }, user("One"), {
      do: "compact",
      summary: "S",
      kept: 1,
      rest: [],
    });
    const [theirs, ours] = await factsOf({ steps: script });
    expect(texts(theirs)).toEqual([undefined, "One"]);
    expect(texts(ours)).toEqual(["be brief", undefined, "One"]);
  });

  it("ignores lines that are not objects", async () => {
    const stored = `${lines(header, said("a", null, "One"))}5\n"text"\n[]\n`;
    const [theirs, ours] = await factsOf({ stored });
    expect(theirs.end.entries).toHaveLength(4);
    expect(ours.end.entries).toHaveLength(1);
  });

  it("does not append to a file of a newer version", async () => {
    const stored = lines({ ...header, version: 4 }, said("a", null, "One"));
    const [theirs, ours] = await factsOf({ stored, steps: steps(user("Two")) });
    expect(theirs.steps[0]?.error).toBeUndefined();
    expect(ours.steps[0]?.error).toMatch(/version 4/);
    expect(texts(ours)).toEqual(["One"]);
  });

  it("copies the bytes of entries, not only their meaning", async () => {
    const entry = JSON.stringify(said("a", null, "One")).replace(
      '"timestamp":1',
      '"timestamp":1.0',
    );
    const stored = `${JSON.stringify(header)}\r\n${entry}\r\n`;
    const [theirs, ours] = await factsOf({ stored, steps: steps({ do: "fork" }) });
    const copied = ({ end }: Facts): string =>
      end.files.find(([path]) => !path.endsWith("stored.jsonl"))?.[1] ?? "";
    expect(copied(theirs)).toContain('"timestamp":1}');
    expect(copied(ours)).toContain(entry);
  });
});
