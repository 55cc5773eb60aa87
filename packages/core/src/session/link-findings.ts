/** What the entries of an open log say of others, read from the bodies that can say it. */
import { referringTypes } from "../entries/references.ts";
import { LinkCheck } from "../index-table/link-check.ts";
import type { Engine } from "./engine.ts";

/**
 * Reads the bodies of entries that are not the first below their parent, and of those whose types
 * have references.
 */
export async function checkLinks(engine: Engine): Promise<LinkCheck> {
  const { index, bodies } = engine;
  const check = new LinkCheck(engine.log.state.indexer);
  const refers = index.kinds.kinds.map(({ type }) => referringTypes.has(type));
  const wanted = new Uint8Array(index.count);
  for (let row = 0; row < index.count; row += 1) {
    const next = index.rows.nextSibling(row);
    if (next >= 0) wanted[next] = 1;
    if (refers[index.rows.kind(row)] === true) wanted[row] = 1;
  }
  for await (const { row, entry } of bodies.entries(marked(wanted))) check.take(row, { ...entry });
  return check;
}

function* marked(rows: Uint8Array): Generator<number> {
  for (let row = rows.indexOf(1); row >= 0; row = rows.indexOf(1, row + 1)) yield row;
}
