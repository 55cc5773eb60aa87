/** What the scan says of a line reaches the index, whatever else it says of it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { sampleHeader } from "@branchlog/core/testing";
import { scanFlags } from "@branchlog/streaming";
import { rowFlagsOf } from "../../../packages/core/src/index-table/row-facts.ts";
import { rowFlags } from "../../../packages/core/src/index-table/row-table.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

it("every set of scanned flags has those of its row", () => {
  const all = Object.values(scanFlags).reduce((sum, flag) => sum | flag, 0);
  for (let scanned = 0; scanned <= all; scanned += 1) {
    const flags = rowFlagsOf[scanned];
    expect(flags, String(scanned)).toBeDefined();
    for (const name of ["tailForm", "endsWithObject", "hasPayload", "exactTime", "root"] as const) {
      const isSet = ((flags ?? 0) & rowFlags[name]) !== 0;
      expect(isSet, `${name} of ${scanned}`).toBe((scanned & scanFlags[name]) !== 0);
    }
    const isProvisional = ((flags ?? 0) & rowFlags.provisional) !== 0;
    expect(isProvisional).toBe((scanned & scanFlags.flat) === 0);
  }
});

it("a result of a tool is a root, has children, and is checked when it is read", async () => {
  const path = join(temporaryDirectory(), "session.jsonl");
  const result = { role: "toolResult", toolCallId: "call", toolName: "bash" };
  const message = { ...result, content: [], isError: false, timestamp: 1_600_000_000_000 };
  const at = { timestamp: "2026-01-01T00:00:01.000Z", message };
  const entries = [
    { type: "message", id: "aaaaaaa1", parentId: null, ...at },
    { type: "message", id: "aaaaaaa2", parentId: "aaaaaaa1", ...at },
  ];
  const lines = [sampleHeader(), ...entries].map((record) => `${JSON.stringify(record)}\n`);
  writeFileSync(path, lines.join(""));
  const session = await openSession(path, { access: "read", checkpoint: "off" });
  expect(session.children(null).map(({ id }) => id)).toEqual(["aaaaaaa1"]);
  expect(session.children("aaaaaaa1").map(({ id }) => id)).toEqual(["aaaaaaa2"]);
  await session.close();
  // Damage within a line that ends well is found with its body.
  const damaged = lines.map((line, place) =>
    place === 1 ? line.replace('"bash"', '"b"sh"') : line,
  );
  writeFileSync(path, damaged.join(""));
  const read = await openSession(path, { access: "read", checkpoint: "off" });
  expect(await read.entry("aaaaaaa1")).toBeUndefined();
  expect(read.diagnostics.map(({ kind }) => kind)).toContain("damaged-entry");
  await read.close();
});
