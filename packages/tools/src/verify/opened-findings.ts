/** The findings of opening a log, in the classification of `verify`, which may find more. */
import { hasByteOrderMark, lineKind, readRange } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import type { Diagnostic, Session } from "@branchlog/core";
import { checkLinks, watchedSession } from "@branchlog/core/engine";
import { findCycles, orphanRows } from "@branchlog/core/rows";
import type { Engine } from "@branchlog/core/engine";
import { findingsOf, endFinding, endKind, mayBeWritten } from "./finding.ts";
import type { Finding, FindingKind } from "./finding.ts";
import { checkTree } from "./tree-check.ts";

/**
 * The known findings of a session, without reading its log whole; at most 1,000 bad lines.
 * @throws BranchlogError `ERR_CLOSED`, `ERR_LOG_GONE`, `ERR_LOG_UNREADABLE`.
 * @example
 * const findings = await openedFindings(session);
 * if (isDamaged(findings)) console.log("damaged");
 */
export async function openedFindings(session: Session): Promise<readonly Finding[]> {
  const { engine } = watchedSession(session);
  const links = await checkLinks(engine.log.state);
  confirmTree(engine);
  const { diagnostics } = session;
  const { log, settings } = engine;
  const { indexer, file: source, pendingRow, rest } = log.state;
  const mayGrow = mayBeWritten(log.statSync(), settings.ports.clock);
  const end = rest === null ? undefined : endFinding(endKind(rest, source, mayGrow));
  const bad = [...diagnostics.map((found) => badKind(found, source)), end];
  const counts = new Map<FindingKind, number>();
  for (const kind of bad) if (kind !== undefined) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  if (hasByteOrderMark(Buffer.concat([...readRange(source, 0, 3)]))) {
    counts.set("byte-order-mark", 1);
  }
  const { counts: ofTree } = checkTree({ indexer, source, leftOut: new Set([pendingRow]) });
  const isTerminated = ({ offset }: { readonly offset: number }): boolean =>
    offset !== rest?.offset;
  return findingsOf({
    ...ofTree,
    ...Object.fromEntries(counts),
    diverged: links.divergences().filter(isTerminated).length,
    "dangling-reference": links.danglingReferences().filter(isTerminated).length,
  });
}

/** Entries near tree damage may turn out to be bad lines. */
function confirmTree({ index, bodies }: Engine): void {
  for (const row of orphanRows(index)) bodies.confirmSync(row);
  for (const { row, size } of findCycles(index).cycles) {
    for (let at = row, left = size; left > 0 && at >= 0; left -= 1) {
      const parent = index.rowOfHandle(index.rows.parentHandle(at));
      bodies.confirmSync(at);
      at = parent;
    }
  }
}

function badKind(
  { kind, reason, offset = 0, length = 0 }: Diagnostic,
  source: ByteSource,
): FindingKind | undefined {
  if (kind !== "bad-line" && kind !== "damaged-entry") return undefined;
  switch (reason) {
    case "not-json": {
      const decoded = { ok: false, reason, message: "" } as const;
      const found = lineKind(decoded, () => readRange(source, offset, length));
      return found === "torn" ? found : reason;
    }
    case "not-object":
    case "nul-bytes":
    case "too-long":
    case "id-changed":
      return reason;
    default:
      // A session record without an id.
      return "not-an-entry";
  }
}
