import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { userDraft } from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import { collected } from "../../support/collected.ts";
import { fixtureBytes } from "../../support/fixture.ts";
import { temporaryFile } from "../../support/temporary-directory.ts";

const copyOf = (name: string): string => temporaryFile(fixtureBytes(name));

const say = userDraft("after the migration");

describe.each(["pi-v1", "pi-v1-boundaries", "pi-v2", "pi-v1-migrated"])("migrating %s", (name) => {
  it("happens at the first append, and opening changes nothing (Verifies: P8)", async () => {
    const path = copyOf(name);
    const before = readFileSync(path);
    const session = await openSession(path);
    await session.context();
    expect(readFileSync(path)).toEqual(before);
    await session.append(say);
    const [header] = readFileSync(path, "utf8").split("\n");
    expect(JSON.parse(header ?? "")).toMatchObject({ version: 3 });
  });

  it("keeps every entry, its id, the context and the original (Verifies: P19)", async () => {
    const path = copyOf(name);
    const original = readFileSync(path);
    const session = await openSession(path);
    const before = await collected(session.entries());
    const context = await session.context();
    const leaf = session.leaf;
    const { parentId } = await session.append(say);
    expect(parentId).toBe(leaf);
    const after = await collected(session.entries());
    expect(JSON.stringify(after.slice(0, -1))).toBe(JSON.stringify(before));
    const again = await openSession(path);
    expect(JSON.stringify(await collected(again.entries()))).toBe(JSON.stringify(after));
    expect((await again.context()).messages.slice(0, -1)).toEqual(context.messages);
    expect((await verifySession(again)).ok).toBe((await verifySession(session)).ok);
    const kept = readdirSync(dirname(path)).filter((file) => file.includes("-original"));
    const isOld = !original.toString().includes('"version":3');
    expect(kept).toHaveLength(isOld ? 1 : 0);
    if (isOld) expect(readFileSync(join(dirname(path), kept[0] ?? ""))).toEqual(original);
  });
});

it("migrating lets a second session continue that opened the old file", async () => {
  const path = copyOf("pi-v2");
  const one = await openSession(path);
  const two = await openSession(path);
  await one.append(say);
  await two.append(say);
  await one.refresh();
  expect(one.revision).toBe(two.revision);
  expect(readdirSync(dirname(path)).filter((file) => file.includes("-original"))).toHaveLength(1);
});
