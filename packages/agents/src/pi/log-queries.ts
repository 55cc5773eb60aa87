/** Queries of a manager, returned as in pi: as copies that callers may change. */
import { settledEntries } from "./lazy-entry.ts";
import type { LazySource } from "./lazy-entry.ts";
import { projectContext, currentVersion, childrenOfId } from "@branchlog/core/rows";
import type { SessionEntry, SessionHeader, SessionContext } from "@branchlog/core";
import type { SessionProjection } from "@branchlog/core/rows";
import { contextRows, loadContextBodiesSync } from "@branchlog/core/engine";
import type { Engine } from "@branchlog/core/engine";
import type { SessionLog } from "./session-log.ts";
import { treeNodes } from "./tree-nodes.ts";
import type { SessionTreeNode } from "./tree-nodes.ts";

/** In the current form, whatever the version of the file. */
export function headerOf({ log, header }: Engine): SessionHeader {
  const { version = currentVersion } = log.state.indexer.header ?? {};
  return version < currentVersion ? { ...header, version: currentVersion } : { ...header };
}

/** In file order, including those hidden by a later one with the same id. */
export function entriesOf(engine: Engine): SessionEntry[] {
  return handOut(engine, () => Int32Array.from({ length: engine.index.count }, (_, row) => row));
}

/** Without hidden entries. */
export function entryCount({ index }: Engine): number {
  if (index.damagedCount === 0) return index.count - index.shadowedCount;
  let count = 0;
  for (let row = 0; row < index.count; row += 1) if (index.isNode(row)) count += 1;
  return count;
}

/** -1 if absent. As in pi, anything but a string is absent. */
export function rowOf({ index }: Engine, id: unknown): number {
  return typeof id === "string" ? index.rowOfId(id) : -1;
}

export function entryOf(engine: Engine, id: unknown): SessionEntry | undefined {
  const row = rowOf(engine, id);
  return row < 0 ? undefined : engine.bodies.entrySync(row);
}

/** From the root; empty for an unknown id. */
export function branchOf(engine: Engine, id: unknown): SessionEntry[] {
  return handOut(engine, () => engine.rowPath(typeof id === "string" ? id : null).rows);
}

/** In file order, whether or not the parent exists. */
export function childrenOf(engine: Engine, parentId: unknown): SessionEntry[] {
  if (parentId !== null && typeof parentId !== "string") return [];
  return handOut(engine, () => childrenOfId(engine.index, parentId));
}

export function treeOf(engine: Engine): SessionTreeNode[] {
  const { labels } = engine.log.state.folded;
  return treeNodes(lazySource(engine), labels);
}

/**
 * Lazy entries load their bodies from here. They survive a migration, which keeps rows, and a
 * rewrite by another program as far as their ids remain.
 */
function lazySource(engine: Engine): LazySource {
  const { index, log } = engine;
  const { generation } = log;
  return {
    index,
    bodyOf: (row) =>
      log.generation === generation
        ? engine.bodies.entrySync(row)
        : engine.entrySync(index.idOf(row)),
    bodiesOf: (rows) => engine.bodies.entriesSync(rows),
    confirmAll: (rows) => engine.bodies.confirmAllSync(rows),
  };
}

/** In order, without damaged ones. */
export function handOut(engine: Engine, rowsNow: () => ArrayLike<number>): SessionEntry[] {
  const entries = settledEntries(lazySource(engine), rowsNow);
  // The bodies just read may justify another checkpoint.
  engine.checkpoints.progressed();
  return entries.includes(undefined)
    ? entries.filter((entry) => entry !== undefined)
    : // Checked in the line above, without a copy of what may be a million entries.
      (entries as SessionEntry[]);
}

/** With pi's fields only. */
export function contextOf({ engine, leaf, memo }: SessionLog): SessionContext {
  return memo.contextAt(engine, leaf.id);
}

export function projectionOf({ engine, leaf }: SessionLog): SessionProjection {
  const loaded = loadContextBodiesSync(engine, engine.rowPath(leaf.id), true);
  const { findings } = engine;
  return projectContext(engine.pathView(leaf.id, { loaded }), (problem) =>
    findings.addMalformed(problem),
  );
}

export function contextEntriesOf({ engine, leaf }: SessionLog): SessionEntry[] {
  return handOut(engine, () => contextRows(engine, engine.rowPath(leaf.id), true));
}
