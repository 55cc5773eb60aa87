/** Searches of a store that says in which logs a text may be. */
import { expect, it } from "vitest";
import { createSession } from "@branchlog/core";
import type { ListingStore } from "@branchlog/core/types";
import { userDraft } from "@branchlog/core/testing";
import { searchSessions } from "@branchlog/library";
import { collected } from "../../support/collected.ts";
import { MemoryLogStore } from "../../support/memory-log-store.ts";

async function textOf(store: MemoryLogStore, name: string): Promise<string> {
  const log = await store.open(name);
  const end = await log.end();
  if (end === undefined) throw new Error(`${name} is gone`);
  return Buffer.concat(await collected(log.read({ ...end, at: 0 }))).toString();
}

/** As a database: which texts are in the bytes, whatever their case. */
function listing(store: MemoryLogStore, isKnown = true): ListingStore {
  const list = async function* () {
    for (const name of ["removed", ...(await collected(store.names()))]) {
      yield { name, address: name, cwd: undefined, modifiedMs: 0, sizeBytes: 0 };
    }
  };
  const logsWith = async function* (texts: readonly string[] | undefined) {
    for (const name of await collected(store.names())) {
      const bytes = (await textOf(store, name)).toLowerCase();
      const isHit = texts?.some((text) => bytes.includes(text.toLowerCase())) ?? true;
      if (isHit) yield await store.open(name);
    }
  };
  return {
    open: (name) => store.open(name),
    create: (name, bytes) => store.create(name, bytes),
    names: () => store.names(),
    remove: (name) => store.remove(name),
    // Cast: a search needs no other facts.
    list: list as unknown as ListingStore["list"],
    ...(isKnown ? { logsWith } : {}),
  };
}

it.each([true, false])(
  "a search of a store finds texts across parts, without removed logs (asks it: %s)",
  async (isKnown) => {
    const store = new MemoryLogStore();
    const session = await createSession({ store, cwd: "/w" });
    await session.append(userDraft("A red build"));
    const content = [
      { type: "toolCall", id: "c", name: "bash", arguments: { command: "ls docs" } },
    ];
    // Cast: fields of an answer that no search reads are omitted.
    await session.append({ type: "message", message: { role: "assistant", content } } as never);
    const place = { store: listing(store, isKnown) };
    const found = async (query: string): Promise<number> =>
      (await collected(searchSessions(place, query))).length;
    expect(await found("bash ls")).toBe(1);
    expect(await found("  RED build ")).toBe(1);
    expect(await found("green")).toBe(0);
  },
);
