/**
 * The text of a checkpoint: kinds of entries, findings, and folded states, read by `SavedFields`.
 */
import { dialectNames } from "../dialects/dialect.ts";
import {
  SavedFields,
  finiteNumber,
  malformed,
  savedText,
  savedTuple,
  wholeNumber,
} from "../entries/saved-fields.ts";
import type {
  Diagnostic,
  DiagnosticKind,
  OwnKind,
  SavedDiagnostics,
} from "../index-table/diagnostics.ts";
import type { Kind } from "../index-table/row-table.ts";
import { diagnosticsMax } from "../limits.ts";
import { foldedVersions } from "../projections/folded.ts";
import type { SavedFolded } from "../projections/folded.ts";
import type { Label } from "../projections/labels.ts";
import { savedModelsMax } from "../projections/usage.ts";
import type { SavedTotals } from "../projections/usage.ts";
import type { CoveredLog } from "./saved-columns.ts";

/** Not saved: known to one process only, or given again by the tree or the kinds. */
type DerivedKind = OwnKind | "missing-parent" | "cycle" | "unknown-type";

const savedKinds: Readonly<Record<Exclude<DiagnosticKind, DerivedKind>, true>> = {
  "bad-line": true,
  "damaged-entry": true,
  "not-an-entry": true,
  "duplicate-id": true,
  "second-header": true,
  "before-header": true,
  "malformed-body": true,
};

/** Distinct kinds, numbered by their places. Throws `TypeError`. */
export function readKinds(fields: SavedFields, log: CoveredLog): readonly Kind[] {
  const seen = new Set<string>();
  return fields.list("kinds", log.end, (element) => {
    const saved = new SavedFields(element);
    const type = saved.text("type");
    const role = saved.optionalText("role");
    const customType = saved.optionalText("customType");
    const key = JSON.stringify([type, role ?? null, customType ?? null]);
    if (seen.has(key)) throw malformed("different kinds");
    seen.add(key);
    return { type, role, customType };
  });
}

/** Findings with places within the log. Throws `TypeError`. */
export function readDiagnostics(fields: SavedFields, log: CoveredLog): SavedDiagnostics {
  const kinds = Object.keys(savedKinds).length;
  return {
    entries: fields.list("entries", diagnosticsMax * kinds, (one) => readDiagnostic(one, log)),
    counts: fields.list("counts", kinds, (element) => {
      const [kind, count] = savedTuple(element, 2);
      return [diagnosticKind(kind), wholeNumber(count, 1, log.end)] as const;
    }),
  };
}

/** Throws `TypeError`, also for states of another version. */
export function readFolded(fields: SavedFields, log: CoveredLog, rows: number): SavedFolded {
  const { lineNumber: linesMax } = log;
  const versions = fields.list("versions", foldedVersions.length, (one) =>
    wholeNumber(one, 0, Number.MAX_SAFE_INTEGER),
  );
  if (String(versions) !== String(foldedVersions)) throw malformed("states of these versions");
  return {
    versions,
    labels: fields.list("labels", linesMax, (element) => {
      const [targetId, label] = savedTuple(element, 2);
      return [savedText(targetId), readLabel(label)] as const;
    }),
    labelled: fields.list("labelled", linesMax, savedText),
    names: fields.list("names", 1, (name) => (name === null ? null : savedText(name))),
    dialect: fields.isNull("dialect") ? null : fields.oneOf("dialect", dialectNames),
    usage: fields.isNull("usage") ? null : readUsage(fields.fields("usage"), rows),
  };
}

function readUsage(fields: SavedFields, rowsMax: number): SavedFolded["usage"] {
  const rows = fields.whole("rows", 1, rowsMax);
  const models = fields.list("models", savedModelsMax, (element) => {
    const [provider, id, totals] = savedTuple(element, 3);
    return [savedText(provider), savedText(id), readTotals(totals, rows)] as const;
  });
  const totals = (key: string): SavedTotals =>
    readTotals(
      fields.list(key, 7, (sum) => sum),
      rows,
    );
  return { rows, total: totals("total"), unattributed: totals("unattributed"), models };
}

function readTotals(value: unknown, rows: number): SavedTotals {
  const [requests, ...sums] = savedTuple(value, 7);
  return [wholeNumber(requests, 0, rows), ...sums.map((sum) => finiteNumber(sum))];
}

function readLabel(value: unknown): Label {
  const fields = new SavedFields(value);
  // Decoding boundary: as stored; the entry may have lacked it, or held anything.
  return { label: fields.text("label"), timestamp: fields.scalar("timestamp") as string };
}

function readDiagnostic(value: unknown, { end, lineNumber }: CoveredLog): Diagnostic {
  const fields = new SavedFields(value);
  return {
    kind: diagnosticKind(fields.text("kind")),
    reason: fields.text("reason"),
    ...(fields.has("offset") && { offset: fields.whole("offset", 0, end) }),
    ...(fields.has("length") && { length: fields.whole("length", 0, end) }),
    ...(fields.has("line") && { line: fields.whole("line", 1, lineNumber) }),
    ...(fields.has("id") && { id: fields.text("id") }),
  };
}

function diagnosticKind(value: unknown): Diagnostic["kind"] {
  const kind = savedText(value);
  if (!isSavedKind(kind)) throw malformed("a kind of finding");
  return kind;
}

function isSavedKind(kind: string): kind is keyof typeof savedKinds {
  return Object.hasOwn(savedKinds, kind);
}
