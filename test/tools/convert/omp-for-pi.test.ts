/** Sessions of omp, converted and exported for pi: its model sees what omp's does. */
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { convertSession, exportLinear } from "@branchlog/tools";
import type { ConversionResult, LinearReport } from "@branchlog/tools";
import { branchlog } from "../../cli/command-run.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { arbitraryOmpTree } from "../../core/projections/arbitrary-omp-tree.ts";
import { stored, textsOf, user } from "../../core/projections/sample-entries.ts";
import { isReset, piPath, piTexts } from "../../core/copies/naive-pi.ts";
import { fileOf, header, messagesAt, recordsIn } from "../../core/copies/session-files.ts";

const titled = { ...header, title: "T" };

function converted(source: string, lineBytesMax = 100_000): Promise<ConversionResult> {
  const target = join(temporaryDirectory(), "pi.jsonl");
  return convertSession(source, { to: "pi", target, lineBytesMax });
}

function exported(source: string, at: string, lineBytesMax = 100_000): Promise<LinearReport> {
  const target = join(temporaryDirectory(), "linear.jsonl");
  return exportLinear(source, target, { at, lineBytesMax });
}

function compaction(id: string, parentId: string, replayed: string, rest: object = {}): object {
  const links = { firstKeptEntryId: "", providerReplayThroughEntryId: replayed };
  return stored("compaction", id, parentId, { summary: "sum", tokensBefore: 1, ...links, ...rest });
}

/** The two logs for pi with the texts that its model sees in them. */
async function inPi(source: string, at: string, lineBytesMax?: number): Promise<string[][]> {
  const paths = [
    (await converted(source, lineBytesMax)).path,
    (await exported(source, at, lineBytesMax)).path,
  ];
  for (const path of paths) {
    expect(await messagesAt(path, at)).toBe(await messagesAt(source, at));
  }
  return paths.map((path) => piTexts(piPath(path, at)));
}

describe("a compaction of omp with replayed entries, for pi", () => {
  it("names the first entry that it keeps, on its own branch", async () => {
    const source = fileOf(
      titled,
      user("1", null, "one"),
      user("x", "1", "elsewhere"),
      user("2", "1", "two"),
      user("3", "2", "three"),
      compaction("4", "3", "1"),
      user("5", "4", "after"),
    );
    const seen = ["sum", "two", "three", "after"];
    expect(await inPi(source, "5")).toEqual([seen, seen]);
  });

  it("names it also when lines are too long to be joined", async () => {
    const source = fileOf(
      titled,
      user("1", null, "one"),
      user("2", "1", "two"),
      compaction("3", "2", "1", { preserveData: { replay: "x".repeat(300_000) } }),
    );
    const seen = ["sum", "two"];
    expect(await inPi(source, "3", 1000)).toEqual([seen, seen]);
  });

  it("passes over damaged entries", async () => {
    const source = fileOf(
      titled,
      user("1", null, "one"),
      JSON.stringify(user("2", "1", "b")).replace('"b"', "torn"),
      user("3", "2", "three"),
      compaction("4", "3", "1"),
    );
    const paths = [(await converted(source)).path, (await exported(source, "4")).path];
    for (const path of paths) {
      expect(await messagesAt(path, "4")).toBe(await messagesAt(source, "4"));
      expect(await (await openSession(path)).entry("4")).toMatchObject({ firstKeptEntryId: "3" });
    }
  });

  it.each([
    ["an entry that is not on the path", "gone"],
    ["the entry before it", "1"],
    ["itself", "2"],
  ])("keeps no entries, as before, when that is %s", async (_, replayed) => {
    const source = fileOf(titled, user("1", null, "one"), compaction("2", "1", replayed));
    expect(await inPi(source, "2")).toEqual([["sum"], ["sum"]]);
    expect(recordsIn((await converted(source)).path)[2]).toMatchObject({ firstKeptEntryId: "" });
  });

  it("is not changed when entries are their own ancestors", async () => {
    const source = fileOf(
      titled,
      user("1", "4", "one"),
      user("2", "1", "two"),
      compaction("3", "2", "1"),
      user("4", "3", "after"),
    );
    const { path } = await converted(source);
    for (const id of ["1", "2", "3", "4"]) {
      expect(await messagesAt(path, id)).toBe(await messagesAt(source, id));
    }
  });

  it("has the same context when it is converted back to omp", async () => {
    const source = fileOf(
      titled,
      user("1", null, "one"),
      user("2", "1", "two"),
      compaction("3", "2", "1"),
    );
    const { path } = await converted(source);
    const target = join(temporaryDirectory(), "omp.jsonl");
    await convertSession(path, { to: "omp", target });
    expect(await messagesAt(target)).toBe(await messagesAt(source));
    const links = { firstKeptEntryId: "2", providerReplayThroughEntryId: "1" };
    expect(recordsIn(target)[3]).toMatchObject(links);
  });
});

describe("a reset of omp, for pi", () => {
  const source = (): string =>
    fileOf(titled, user("1", null, "old"), stored("reset_boundary", "2", "1", {}));

  it("stays, and is counted as unsupported by pi", async () => {
    const path = source();
    const [whole, linear] = [await converted(path), await exported(path, "2")];
    expect([whole.resets, linear.resets]).toEqual([1, 1]);
    expect(recordsIn(linear.path)).toMatchObject([{}, { id: "1" }, { type: "reset_boundary" }, {}]);
    expect((await exported(path, "1")).resets).toBe(0);
    const target = join(temporaryDirectory(), "omp.jsonl");
    expect((await convertSession(path, { to: "omp", target })).resets).toBe(0);
  });

  it("is not counted when a compaction after it ends a path", async () => {
    const reset = stored("reset_boundary", "2", "1", {});
    const path = fileOf(titled, user("1", null, "old"), reset, compaction("3", "2", "2"));
    expect((await exported(path, "3")).resets).toBe(0);
    expect(await inPi(path, "3")).toEqual([["sum"], ["sum"]]);
  });

  it.each(["convert", "export"])("is reported by branchlog %s", async (command) => {
    const target = join(temporaryDirectory(), "pi.jsonl");
    const { out } = await branchlog([command, source(), "--to", "pi", "-o", target]);
    expect(out).toContain("pi does not support 1 reset: its model sees what came before\n");
  });
});

it("any session of omp has the same context in pi, except for resets (Verifies: P22)", async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryOmpTree, async (entries) => {
      const path = fileOf(titled, ...entries);
      const session = await openSession(path, { access: "read" });
      const whole = await converted(path);
      const types: readonly string[] = entries.map(({ type }) => type);
      expect(whole.resets).toBe(types.filter((type) => type === "reset_boundary").length);
      for (const { id } of entries) {
        const linear = await exported(path, id);
        const seen = textsOf((await session.context({ at: id })).messages);
        expect(linear.resets > 0).toBe(isReset(piPath(linear.path, id)));
        for (const log of [whole.path, linear.path]) {
          const way = piPath(log, id);
          if (!isReset(way)) expect(piTexts(way)).toEqual(seen);
        }
      }
    }),
    { numRuns: 40 },
  );
});
