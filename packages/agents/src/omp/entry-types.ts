/** Entries that only omp writes, under its names. Types only: they are returned as stored. */
import type { SessionEntry } from "@branchlog/core";
import type { SessionEntryBase } from "@branchlog/core/entries";

/** Rules that were injected into the conversation. */
export interface TtsrInjectionEntry extends SessionEntryBase {
  readonly type: "ttsr_injection";
  readonly injectedRules: readonly string[];
}

/** The start of a subagent. */
export interface SessionInit {
  readonly systemPrompt: string;
  readonly task: string;
  readonly tools: readonly string[];
  /** A JSON schema. */
  readonly outputSchema?: unknown;
}

/** The start of the subagent of this session; the model never sees it. */
export interface SessionInitEntry extends SessionEntryBase, SessionInit {
  readonly type: "session_init";
}

/** The name of the session. The latest wins, unless there is a title slot. */
export interface TitleChangeEntry extends SessionEntryBase {
  readonly type: "title_change";
  readonly title: string;
  readonly source: "auto" | "user";
  readonly previousTitle?: string | undefined;
  readonly trigger?: string | undefined;
}

/** A mode that was entered; `none` when it was left. */
export interface ModeChangeEntry extends SessionEntryBase {
  readonly type: "mode_change";
  readonly mode: string;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** Service tiers by family of providers from here on; null: none. */
export interface ServiceTierChangeEntry extends SessionEntryBase {
  readonly type: "service_tier_change";
  readonly serviceTier: Readonly<Record<string, string>> | string | null;
}

/** From here on the model sees no earlier entries. */
export interface ResetBoundaryEntry extends SessionEntryBase {
  readonly type: "reset_boundary";
}

/** Archives an entry with its descendants, or restores them. */
export interface ArchiveEntry extends SessionEntryBase {
  readonly type: "archive";
  readonly targetId: string;
  readonly archived: boolean;
}

/** Discriminated by `type`. */
export type OmpSessionEntry =
  | SessionEntry
  | TtsrInjectionEntry
  | SessionInitEntry
  | TitleChangeEntry
  | ModeChangeEntry
  | ServiceTierChangeEntry
  | ResetBoundaryEntry
  | ArchiveEntry;
