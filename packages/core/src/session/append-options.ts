/** What a caller says about an append, and the request that it makes. */
import type { AnyDraft } from "../entries/entry-draft.ts";
import type { DraftTranslation } from "../entries/encode-entry.ts";
import { requireNamedType } from "../entries/named-types.ts";
import { requireFields } from "../entries/required-fields.ts";
import {
  invalidArgument,
  requireBoolean,
  requireList,
  requireOneOf,
  requireOptions,
  shown,
} from "../argument-checks.ts";
import { appendItem } from "./append-entries.ts";
import type { AppendRequest } from "./append-group.ts";
import type { OnDiverged, ParentChoice } from "./append-plan.ts";
import type { Engine } from "./engine.ts";

/** Where and on what conditions entries are appended. */
export interface AppendOptions {
  /** `leaf` (default): under this session's leaf. `tail`: under the last entry of the log. */
  readonly parent?: "leaf" | "tail" | { readonly id: string | null };
  /** What `leaf` does if others appended since this session last looked. Default `branch`. */
  readonly onDiverged?: OnDiverged;
  /** Append only if this is the last entry of the log (null: only if it has none). */
  readonly expectedTail?: string | null;
  /** The id to give the entry; appending it again writes nothing and says where it is. */
  readonly id?: string;
  /** Accepts types that are neither those of pi and omp nor have a namespace. Default false. */
  readonly allowUnknownType?: boolean;
  /** Gives up waiting for the lock; nothing is written then. */
  readonly signal?: AbortSignal;
}

/** Options that say by themselves whether types are checked: their drafts may have any. */
export type AnyTypeOptions<O extends Partial<AppendOptions> = AppendOptions> = O &
  Required<Pick<AppendOptions, "allowUnknownType">>;

const checkTypeAndFields: DraftTranslation = (draft) => requireFields(requireNamedType(draft));

/**
 * The request to append drafts, each the parent of the next. Code of the caller runs here, and not
 * later.
 * @throws As `encodeDraft`, `requireNamedType`, `requireFields` and `appendItem`;
 * `ERR_INVALID_ARGUMENT` for options that are none.
 */
export function requestOf(
  engine: Engine,
  drafts: readonly AnyDraft[],
  options: AppendOptions,
): AppendRequest {
  const timestamp = isoText(engine.settings.ports.clock.now());
  const {
    onDiverged = "branch",
    expectedTail,
    id,
    allowUnknownType = false,
  } = requireOptions(options);
  const isAnyType = requireBoolean("allowUnknownType", allowUnknownType);
  requireOneOf("onDiverged", onDiverged, ["branch", "follow", "reject"]);
  if (typeof (expectedTail ?? "") !== "string") {
    throw invalidArgument(`expectedTail must be an id or null, not ${shown(expectedTail)}`);
  }
  const parent = parentChoice(options.parent ?? "leaf");
  const items = requireList("The drafts", drafts).map((draft, i) =>
    appendItem(
      engine.encode(draft, timestamp, isAnyType ? requireFields : checkTypeAndFields),
      i === 0 ? parent : { kind: "leaf" },
      id,
    ),
  );
  return { items, onDiverged, expectedTail };
}

let latest = { timeMs: 0, text: new Date(0).toISOString() };

/** ISO 8601 with milliseconds. Many appends share one, and its text costs as much as an append. */
function isoText(timeMs: number): string {
  if (latest.timeMs !== timeMs) latest = { timeMs, text: new Date(timeMs).toISOString() };
  return latest.text;
}

/** The parent that a caller's word means. */
function parentChoice(parent: NonNullable<AppendOptions["parent"]>): ParentChoice {
  if (parent === "leaf" || parent === "tail") return { kind: parent };
  const id: unknown = typeof parent === "object" ? parent.id : undefined;
  if (id === null) return { kind: "root" };
  if (typeof id === "string") return { kind: "entry", id };
  throw invalidArgument(
    'parent must be "leaf", "tail" or { id }, an entry\'s id or null for a root',
  );
}
