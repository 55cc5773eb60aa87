/** Damaged lines above the limit up to which they are taken apart. */
import { describe, expect, it } from "vitest";
import { LineFramer } from "@branchlog/streaming";
import { PlanBuilder } from "../../../packages/tools/src/repair/plan-builder.ts";
import { MemorySource } from "../../streaming/support/memory-source.ts";

const header = '{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}';
const entry = (id: string, text = "x"): string =>
  `{"type":"custom","customType":"${text}","id":"${id}","parentId":null,"timestamp":"t"}`;
const long = entry("b", "x".repeat(6000));
const torn = long.slice(0, -1);

/** The steps for a log with such a line between two others, and the builder. */
function stepsWith(
  line: string,
  partedBytesMax: number,
): { builder: PlanBuilder; steps: unknown[] } {
  const bytes = Buffer.from(`${header}\n${line}\n${entry("c")}\n`);
  const builder = new PlanBuilder(new MemorySource(bytes), partedBytesMax);
  new LineFramer({ lineBytesMax: 100 }).push(bytes, builder);
  return { builder, steps: builder.finish().filter(({ kind }) => kind !== "keep") };
}

describe("a damaged line above the splitting limit", () => {
  const offset = header.length + 1;

  it.each([
    ["torn", torn],
    ["torn", `{"type":"message","text":"${"y".repeat(6000)}`],
    ["not-json", `${torn}${entry("d")}`],
    ["nul-bytes", `${long}\0`],
    ["not-object", `[${long}]`],
  ])("is set aside completely, as %s, and the lines around it stay", (reason, line) => {
    const { steps, builder } = stepsWith(line, 6000);
    const length = line.length + 1;
    expect(steps).toMatchObject([{ kind: "set-aside", offset, length, line: 2, reason }]);
    expect(builder.repaired.index.count).toBe(1);
  });

  it("still identifies its entry, so that a placeholder can replace it", () => {
    const { builder, steps } = stepsWith(`x${long}`, 6000);
    expect([...builder.lost]).toEqual([["b", { id: "b", parentId: null, timestamp: "t" }]]);
    expect(steps).toMatchObject([{ id: "b" }]);
  });

  it("is split up to that limit, and stays if it is a record or blank", () => {
    const parted = stepsWith(`${torn}${long}`, 100_000).steps;
    expect(parted).toMatchObject([{ kind: "set-aside" }, { kind: "recover", id: "b" }]);
    expect(stepsWith(long, 6000).steps).toEqual([]);
    expect(stepsWith(" ".repeat(7000), 6000).steps).toEqual([]);
  });
});
