/** The context as it is emitted: its messages are a list that grows with the log. */
import type { AgentMessage } from "../entries/message-types.ts";
import type { PathSettings } from "../projections/settings.ts";
import { isBranchlogError } from "../errors.ts";
import { ContextMemo } from "../session/path-fold.ts";
import type { GrowingContext } from "../session/path-fold.ts";
import type { Engine } from "../session/engine.ts";
import type { LogState } from "../log/log-state.ts";
import { GrowingListView } from "./list-view.ts";

/** As `PathContext`, but for the list. */
export interface LiveContext extends PathSettings {
  readonly messages: GrowingListView<AgentMessage>;
  /** The parent id of the first entry of the path, if no entry of the log has it. */
  readonly truncatedAt?: string;
}

interface KnownContext {
  readonly state: LogState;
  readonly structureVersion: number;
  readonly leafRow: number;
  readonly context: LiveContext;
}

/** Computes the context at a leaf; entries that were read before are not read again. */
export class LiveContexts {
  /** Subscribers hold the context anyway, so it is kept whatever its size. */
  readonly #memo = new ContextMemo(Infinity);
  #known: KnownContext | undefined;

  /** Empty for null, and for an entry that the log lost. */
  async at(engine: Engine, leafId: string | null): Promise<LiveContext> {
    const { state } = engine.log;
    const { index } = state;
    const leafRow = leafId === null ? -1 : index.rowOfId(leafId);
    const { structureVersion } = index;
    const known = this.#known;
    const isKnown = known?.state === state && known.structureVersion === structureVersion;
    if (isKnown && known.leafRow === leafRow) return known.context;
    const growing = await this.#growingAt(engine, leafRow < 0 ? null : leafId);
    const { messages, count, settings, truncatedAt } = growing;
    const { thinkingLevel, model } = settings;
    const found = { messages: new GrowingListView(messages, count), thinkingLevel, model };
    const context = truncatedAt === undefined ? found : { ...found, truncatedAt };
    this.#known = { state, structureVersion, leafRow, context };
    return context;
  }

  async #growingAt(engine: Engine, leafId: string | null): Promise<GrowingContext> {
    try {
      return await this.#memo.growingAt(engine, leafId);
    } catch (error) {
      // The log was replaced during the read.
      if (!isBranchlogError(error, "ERR_ENTRY_NOT_FOUND")) throw error;
      return this.#memo.growingAt(engine, null);
    }
  }
}

/** False for equal contexts whose lists were rebuilt. */
export function isSameContext(one: LiveContext, other: LiveContext): boolean {
  return (
    one.messages.isSameAs(other.messages) &&
    isSameSettings(one, other) &&
    one.truncatedAt === other.truncatedAt
  );
}

export function isSameSettings(one: PathSettings, other: PathSettings): boolean {
  return (
    one.thinkingLevel === other.thinkingLevel &&
    one.model?.provider === other.model?.provider &&
    one.model?.modelId === other.model?.modelId
  );
}
