/** `entries --json` prints what is stored, byte for byte. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lineBytesMaxDefault } from "@branchlog/streaming";
import { createSession, openSession } from "@branchlog/core";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, MemoryOutput } from "./command-run.ts";

const stamp = '"timestamp":"2026-01-01T00:00:00.000Z"';
const header = `{"type":"session","version":3,"id":"s",${stamp},"cwd":"/w"}`;
const custom = (id: string, data: string): string =>
  `{"type":"custom","customType":"x","data":${data},"id":"${id}","parentId":null,${stamp}}`;

async function printed(path: string, ...words: readonly string[]): Promise<Buffer> {
  const out = new MemoryOutput();
  expect(await branchlog(["entries", path, "--json", ...words], { out })).toMatchObject({
    code: 0,
    err: "",
  });
  return out.bytes;
}

function fileOf(...parts: readonly (string | Buffer)[]): string {
  const path = join(temporaryDirectory(), "s.jsonl");
  writeFileSync(path, Buffer.concat(parts.map((part) => Buffer.from(part))));
  return path;
}

describe("entries --json", () => {
  it("prints numbers, escapes, repeated keys and unusual bytes as stored", async () => {
    const lines = [
      custom("a", '{"n":1E3,"m":1.0,"big":12345678901234567890}'),
      custom("b", '{"k":1,"k":"\\u00e9\\/"}'),
      custom("c", '"\u007f é 😀"'),
    ].map((line) => `${line}\n`);
    const broken = Buffer.from(`${custom("d", '"?"')}\n`);
    broken[broken.indexOf("?")] = 0xff;
    const entries = Buffer.concat([...lines.map((line) => Buffer.from(line)), broken]);
    const path = fileOf(`${header}\n`, entries);
    expect(await printed(path)).toEqual(entries);
    const last = await printed(path, "--reverse", "--limit", "1");
    expect(last).toEqual(broken);
    expect(await printed(path, "--limit", "0")).toEqual(Buffer.alloc(0));
  });

  it("entries --json prints one value per line for any line ends, without damage", async () => {
    const [a, b] = [custom("a", "1"), custom("b", "2")];
    const path = fileOf(`\uFEFF${header}\r\n\r\n ${a} \r\n{"torn\r\n${b}\r\n`);
    expect((await printed(path)).toString()).toBe(`${a}\n${b}\n`);
  });

  it("prints lines of any length", async () => {
    const long = custom("long", `"${"é".repeat(lineBytesMaxDefault / 2)}"`);
    const path = fileOf(`${header}\n${long}\r\n${custom("b", "2")}\n`);
    expect((await printed(path)).equals(Buffer.from(`${long}\n${custom("b", "2")}\n`))).toBe(true);
  });

  it.each(["pi-v1", "pi-v1-boundaries", "pi-v2"])(
    "entries --json prints the lines of the migration of %s",
    async (name) => {
      const path = join(temporaryDirectory(), "s.jsonl");
      copyFileSync(fixture(`${name}.jsonl`), path);
      const before = (await printed(path)).toString();
      const session = await openSession(path);
      await session.append({ type: "custom", customType: "after" });
      const after = (await printed(path)).toString();
      expect(after.startsWith(before)).toBe(true);
      expect(after.slice(before.length).split("\n")).toHaveLength(2);
    },
  );

  it("entries --json prints the lines of every other fixture, and of logs that this engine writes", async () => {
    const names = readdirSync(fixture("")).filter((name) => name.endsWith(".jsonl"));
    const created = await createSession(join(temporaryDirectory(), "s.jsonl"));
    await created.appendAll([
      { type: "message", message: { role: "user", content: "é", timestamp: 1 } },
      { type: "session_info", name: "x" },
    ]);
    for (const path of [...names.map((name) => fixture(name)), created.path]) {
      const stored = readFileSync(path, "utf8").split(/\r?\n/);
      if (!stored.some((line) => line.includes('"version":3'))) continue;
      const lines = (await printed(path)).toString().split("\n");
      expect(lines.pop()).toBe("");
      for (const line of lines) expect(stored).toContain(line);
    }
  });
});
