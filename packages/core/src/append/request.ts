/** What a caller asks to append: drafts as bytes, where they go, on what conditions; its leaf. */
import {
  invalidArgument,
  requireBoolean,
  requireList,
  requireOneOf,
  shown,
} from "../argument-checks.ts";
import { translationTo } from "../dialects/dialect.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { encodeDraft } from "../entries/encode-entry.ts";
import type { DraftTranslation, EncodedDraft } from "../entries/entry-draft.ts";
import { requireFields, requireMessage, requireNamedType } from "../entries/draft-checks.ts";
import type { AnyDraft } from "../entries/entry-draft.ts";
import { BranchlogError } from "../errors.ts";
import type { Ports } from "../platform/ports.ts";
import type { AppendAllOptions, AppendOptions, OnDiverged } from "./append-options.ts";

export type ParentChoice =
  | { readonly kind: "leaf" }
  | { readonly kind: "tail" }
  | { readonly kind: "entry"; readonly id: string }
  | { readonly kind: "root" };

export interface AppendItem {
  readonly encoded: EncodedDraft;
  readonly id: string | undefined;
  readonly parent: ParentChoice;
  readonly isMetadata: boolean;
  /** Whether a dangling reference is refused. The agents store it. */
  readonly checksReferences: boolean;
}

export interface AppendRequest {
  readonly items: readonly AppendItem[];
  readonly onDiverged: OnDiverged;
  readonly expectedTail: string | null | undefined;
}

/** Whether the plan depends on the tail or on other entries, not only on the session's leaf. */
export function dependsOnOthers({ items, onDiverged, expectedTail }: AppendRequest): boolean {
  if (expectedTail !== undefined || onDiverged !== "branch") return true;
  return items.some(
    ({ encoded, id, isMetadata, parent }) =>
      id !== undefined ||
      isMetadata ||
      encoded.references.length > 0 ||
      parent.kind === "tail" ||
      parent.kind === "entry",
  );
}

export interface AppendCall {
  readonly request: AppendRequest;
}

export interface RequestedLog {
  readonly settings: { readonly ports: Pick<Ports, "clock"> };
  readonly dialect: DialectName;
}

/** What is refused: nothing; missing fields of known types; also types without a namespace. */
type DraftChecks = "none" | "fields" | "types and fields";

export interface DraftForm {
  /** ISO 8601. */
  readonly timestamp: string;
  readonly dialect: DialectName;
  readonly checks: DraftChecks;
}

const checks: Readonly<Record<DraftChecks, DraftTranslation>> = {
  none: (draft) => draft,
  fields: requireFields,
  "types and fields": (draft) => requireFields(requireNamedType(draft)),
};

/**
 * Checks and encodes a draft, in the dialect of its log. Throws as `encodeDraft`,
 * `requireNamedType`, `requireFields`, `requireMessage`.
 */
export function prepare(draft: AnyDraft, form: DraftForm): EncodedDraft {
  const check = checks[form.checks];
  const translate = translationTo(form.dialect);
  // The check sees what the caller gave.
  const encoded = encodeDraft(draft, form.timestamp, (given) => translate(check(given)));
  return form.checks === "none" ? encoded : requireMessage(encoded, form.checks === "fields");
}

/** Throws as `prepare` and `appendItem`. */
export function requestOf(
  log: RequestedLog,
  drafts: readonly AnyDraft[],
  options: AppendAllOptions,
): AppendRequest {
  const { onDiverged = "branch", expectedTail, ids, allowUnknownType = false } = options;
  const isAnyType = requireBoolean("allowUnknownType", allowUnknownType);
  requireOneOf("onDiverged", onDiverged, ["branch", "follow", "reject"]);
  if (typeof (expectedTail ?? "") !== "string") {
    throw invalidArgument(`expectedTail must be an id or null, not ${shown(expectedTail)}`);
  }
  const parent = parentChoice(options.parent ?? "leaf");
  const form: DraftForm = {
    timestamp: isoText(log.settings.ports.clock.now()),
    dialect: log.dialect,
    checks: isAnyType ? "fields" : "types and fields",
  };
  const list = requireList("The drafts", drafts);
  if (ids !== undefined && requireList("The ids", ids).length !== list.length) {
    throw invalidArgument(`There are ${ids.length} ids for ${list.length} entries`);
  }
  const items = list.map((draft, i) => {
    const item = appendItem(prepare(draft, form), i === 0 ? parent : { kind: "leaf" }, ids?.[i]);
    return { ...item, checksReferences: true };
  });
  return { items, onDiverged, expectedTail };
}

let latest = { timeMs: 0, text: new Date(0).toISOString() };

/** Many appends share a time, and formatting it costs as much as an append. */
export function isoText(timeMs: number): string {
  if (latest.timeMs !== timeMs) latest = { timeMs, text: new Date(timeMs).toISOString() };
  return latest.text;
}

function parentChoice(parent: NonNullable<AppendOptions["parent"]>): ParentChoice {
  if (parent === "leaf" || parent === "tail") return { kind: parent };
  const id: unknown = typeof parent === "object" ? parent.id : undefined;
  if (id === null) return { kind: "root" };
  if (typeof id === "string") return { kind: "entry", id };
  throw invalidArgument(
    'parent must be "leaf", "tail" or { id } with the id of an entry, or null for a root',
  );
}

/** Their entries describe the session; attaching them moves no leaf. */
const metadataTypes: ReadonlySet<string> = new Set(["label", "session_info", "title_change"]);

export function isMetadataType(type: string): boolean {
  return metadataTypes.has(type);
}

/** Throws `ERR_INVALID_ARGUMENT` for an id that is empty or not a string. */
export function appendItem(
  encoded: EncodedDraft,
  parent?: AppendItem["parent"],
  id?: string,
): AppendItem {
  if (id === "" || typeof (id ?? "") !== "string") {
    const message = "An entry's id must be a non-empty string: other entries refer to it";
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
  }
  const isMetadata = isMetadataType(encoded.type);
  return { encoded, id, parent: parent ?? { kind: "leaf" }, isMetadata, checksReferences: false };
}

export function bytesOf(items: readonly AppendItem[]): number {
  let bytes = 0;
  for (const { encoded } of items) bytes += encoded.before.length + encoded.after.length;
  return bytes;
}
