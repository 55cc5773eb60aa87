/** Everything that can be asked of a session, and of entries in memory. */
import type { Entry, Manager, SessionModule } from "./session-port.ts";
import type { Tolerated } from "./tolerated.ts";

/** What a session answers. `id`: the entry that is asked about; undefined: the leaf. */
export function answers(
  module: SessionModule,
  manager: Manager,
  id: string | undefined,
  tolerated: readonly Tolerated[],
): object {
  const entries = manager.getEntries();
  const hasProjection = !tolerated.includes("has-no-projection");
  return {
    header: manager.getHeader(),
    leaf: manager.getLeafEntry(),
    entries,
    count: tolerated.includes("has-no-entry-count") ? undefined : manager.getEntryCount?.(),
    tree: manager.getTree(),
    branch: manager.getBranch(id),
    children: manager.getChildren(id ?? null),
    entry: id === undefined ? undefined : manager.getEntry(id),
    label: id === undefined ? undefined : manager.getLabel(id),
    context: manager.buildSessionContext(),
    freeContext: module.buildSessionContext(entries, id),
    compaction: module.getLatestCompactionEntry(entries),
    place: [manager.getCwd(), manager.getSessionDir(), manager.isPersisted()],
    ...(hasProjection ? projections(module, manager, entries, id) : {}),
  };
}

function projections(
  module: SessionModule,
  manager: Manager,
  entries: readonly Entry[],
  id: string | undefined,
): object {
  return {
    contextEntries: manager.buildContextEntries?.(),
    projection: manager.buildSessionProjection?.(),
    freeEntries: module.buildContextEntries?.(entries, id),
    freeProjection: module.buildSessionProjection?.(entries, id),
    isDefaultPlace: manager.usesDefaultSessionDir?.(),
  };
}

/** A stored file by way of the functions for entries in memory, ids named by their lines. */
export function migrated(module: SessionModule, stored: string): string {
  const records = module.parseSessionEntries(stored);
  module.migrateSessionEntries(records);
  let text = JSON.stringify(records);
  // Ours are the same as in the file, pi's are new each time.
  for (const [i, record] of records.entries()) {
    // Decoding boundary: a line may hold something other than an object.
    const { id } = Object(record) as { readonly id?: string };
    if (id !== undefined) text = text.replaceAll(JSON.stringify(id), `"line-${i}"`);
  }
  return text;
}
