/** The context as it is emitted: its messages are a list that grows by what was appended. */
import type { AgentMessage } from "../entries/message-types.ts";
import type { PathSettings } from "../projections/settings.ts";
import { ContextMemo } from "../session/context-memo.ts";
import type { Engine } from "../session/engine.ts";
import { GrowingListView } from "./list-view.ts";

/** As `PathContext`, but for the list. */
export interface LiveContext extends PathSettings {
  readonly messages: GrowingListView<AgentMessage>;
  /** The parent id at which the path breaks off because no entry of the log has it. */
  readonly truncatedAt?: string;
}

/** Computes the context at a leaf, again and again; what did not change is not read again. */
export class LiveContexts {
  readonly #memo = new ContextMemo();

  /** The context at an entry; empty for null, and for an entry that the log lost. */
  async at(engine: Engine, leafId: string | null): Promise<LiveContext> {
    const isThere = leafId !== null && engine.index.rowOfId(leafId) >= 0;
    const growing = this.#memo.growingAt(engine, isThere ? leafId : null);
    const { messages, settings, truncatedAt } = await growing;
    const list = new GrowingListView(messages);
    const context = { messages: list, ...settings };
    return truncatedAt === undefined ? context : { ...context, truncatedAt };
  }
}

/** Whether two contexts are the same: of a list that was made anew, it is not known. */
export function isSameContext(one: LiveContext, other: LiveContext): boolean {
  return (
    one.messages.isSameAs(other.messages) &&
    isSameSettings(one, other) &&
    one.truncatedAt === other.truncatedAt
  );
}

/** Whether model and thinking level are the same. */
export function isSameSettings(one: PathSettings, other: PathSettings): boolean {
  return (
    one.thinkingLevel === other.thinkingLevel &&
    one.model?.provider === other.model?.provider &&
    one.model?.modelId === other.model?.modelId
  );
}
