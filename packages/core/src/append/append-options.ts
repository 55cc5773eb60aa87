/** The public options of appends. */
import type { OptionNames } from "@branchlog/streaming";

/** What `parent: "leaf"` does when others appended after this session last caught up. */
export type OnDiverged = "branch" | "follow" | "reject";

/** Where and on what conditions entries are appended. */
export interface AppendOptions {
  /** `leaf` (default): under this session's leaf. `tail`: under the last entry of the log. */
  readonly parent?: "leaf" | "tail" | { readonly id: string | null };
  /** What `leaf` does if others appended since this session last caught up. Default `branch`. */
  readonly onDiverged?: OnDiverged;
  /** Append only if this is the last entry of the log (null: only if it has none). */
  readonly expectedTail?: string | null;
  /** The id to give the entry; appending it again writes nothing and says where it is. */
  readonly id?: string;
  /** Allows types and roles that neither pi nor omp has, and types without a namespace. */
  readonly allowUnknownType?: boolean;
  /** Gives up waiting for the lock; nothing is written then. */
  readonly signal?: AbortSignal;
}

/** Where and on what conditions several entries are appended. */
export interface AppendAllOptions extends Omit<AppendOptions, "id"> {
  /** As {@link AppendOptions.id}, one for each entry, in their order. */
  readonly ids?: readonly string[] | undefined;
}

const commonNames: OptionNames<Omit<AppendOptions, "id">> = {
  parent: true,
  onDiverged: true,
  expectedTail: true,
  allowUnknownType: true,
  signal: true,
};

export const appendNames: OptionNames<AppendOptions> = { ...commonNames, id: true };
export const appendAllNames: OptionNames<AppendAllOptions> = { ...commonNames, ids: true };

/** Options that say by themselves whether types are checked: their drafts may have any. */
export type AnyTypeOptions<O extends Partial<AppendOptions> = AppendOptions> = O &
  Required<Pick<AppendOptions, "allowUnknownType">>;
