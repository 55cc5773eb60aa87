/** What a session manager is asked about the log it stands on: header, tree and paths. */
import { entryForm } from "../../dialects/header.ts";
import { upcastHeader } from "../../dialects/upcast.ts";
import type { JsonObject } from "@branchlog/streaming";
import type { SessionEntry, SessionHeader, UsageEntry } from "../../entries/entry-types.ts";
import { rootHandle } from "../../index-table/id-table.ts";
import { childrenOfHandle, pathToRow } from "../../index-table/tree-walk.ts";
import type { Engine } from "../../session/engine.ts";
import { handOut, lazySource } from "./handed-out.ts";
import { treeNodes } from "./tree-nodes.ts";
import type { SessionTreeNode } from "./tree-nodes.ts";

/** A copy of the header in the current form, whatever version the file has. */
export function headerOf({ log, header }: Engine): SessionHeader {
  const version = entryForm(log.state.indexer.header?.version ?? 3);
  // Decoding boundary: a header is a JSON object, and stays one.
  const current = upcastHeader(header as unknown as JsonObject, version);
  // Decoding boundary: the same object in the current form.
  return { ...current } as unknown as SessionHeader;
}

/** All entries in file order, also those that a later one with the same id hides. */
export function entriesOf(engine: Engine): SessionEntry[] {
  return handOut(engine, () => Int32Array.from({ length: engine.index.count }, (_, row) => row));
}

/** How many entries can be found by their id. */
export function entryCount({ index }: Engine): number {
  if (index.damagedCount === 0) return index.count - index.shadowedCount;
  let count = 0;
  for (let row = 0; row < index.count; row += 1) if (index.isNode(row)) count += 1;
  return count;
}

/** The row of the entry with that id, or -1. What is no string names no entry, as in pi. */
export function rowOf({ index }: Engine, id: unknown): number {
  return typeof id === "string" ? index.rowOfId(id) : -1;
}

/** The entry with that id; undefined if there is none. */
export function entryOf(engine: Engine, id: unknown): SessionEntry | undefined {
  const row = rowOf(engine, id);
  return row < 0 ? undefined : engine.bodies.entrySync(row);
}

/** The entries from the root to one; none for an unknown id. */
export function branchOf(engine: Engine, id: unknown): SessionEntry[] {
  return handOut(engine, () => pathToRow(engine.index, rowOf(engine, id)).rows);
}

/** The entries that name one as their parent, in file order, whether it exists or not. */
export function childrenOf(engine: Engine, parentId: unknown): SessionEntry[] {
  const { index } = engine;
  const handle = parentId === null ? rootHandle : handleOf(engine, parentId);
  return handle === -1 ? [] : handOut(engine, () => childrenOfHandle(index, handle));
}

function handleOf({ index }: Engine, id: unknown): number {
  return typeof id === "string" ? index.ids.find(id) : -1;
}

/** The tree, roots in file order. */
export function treeOf(engine: Engine): SessionTreeNode[] {
  const { labels } = engine.log.state.folded;
  return treeNodes(lazySource(engine), labels);
}

/** The usage entry that was just appended. */
export function usageEntryOf(engine: Engine, id: string): UsageEntry {
  const entry = engine.entrySync(id);
  if (entry?.type === "usage") return entry;
  throw new Error(`${engine.path} lost the entry ${id} right after it was appended`);
}
