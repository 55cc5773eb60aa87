/**
 * The context of a path: the messages, thinking level and model that a request to a model starts
 * from. The one context builder; every face uses it. Pure, linear, never throws on malformed
 * bodies.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import type { AgentMessage } from "../entries/message-types.ts";
import {
  projectSelected,
  type OnContextProblem,
  type ProjectedEntries,
} from "./context-messages.ts";
import { selectContext } from "./context-selection.ts";
import type { PathView } from "./projection.ts";
import { settingsOf, settingsOfPath, settingsStateOfPath } from "./settings.ts";
import type { PathSettings, SettingsState } from "./settings.ts";

/** What a request to a model starts from, under pi's names. */
export interface SessionContext extends PathSettings {
  readonly messages: AgentMessage[];
}

/** A context that says whether its path is whole. */
export interface PathContext extends SessionContext {
  /**
   * The parent id at which the path breaks off because no entry of the log has it. Absent if the
   * path goes back to a root, or into a cycle.
   */
  readonly truncatedAt?: string;
}

/** A context together with the entries that its messages come from, under pi's names. */
export interface SessionProjection extends SessionContext, ProjectedEntries {}

/** A context, and the state of its settings. */
export interface BuiltContext {
  readonly context: PathContext;
  readonly settings: SettingsState;
}

/**
 * Builds the context at the end of the path. Loads the bodies of what speaks to a model and of the
 * two entries that hold the settings; those of extension state and labels stay on disk.
 *
 * @param onProblem called for each malformed body that the context was built without
 */
export function buildContext(view: PathView, onProblem?: OnContextProblem): PathContext {
  return buildWithSettings(view, onProblem).context;
}

/** As {@link buildContext}, for those who go on from there. */
export function buildWithSettings(view: PathView, onProblem?: OnContextProblem): BuiltContext {
  const speaking: SessionEntry[] = [];
  for (const [position, i] of selectContext(view).entries()) {
    if (canSpeak(view.type(i), position)) speaking.push(view.entry(i));
  }
  const { messages } = projectSelected(speaking, onProblem);
  const settings = settingsStateOfPath(view);
  const truncatedAt = view.missingParentId;
  const context = { messages, ...settingsOf(settings) };
  return {
    context: truncatedAt === undefined ? context : { ...context, truncatedAt },
    settings,
  };
}

/**
 * Like {@link buildContext}, with every selected entry beside the messages that it contributes,
 * also those that contribute none. Loads the bodies of all of them.
 */
export function projectContext(view: PathView, onProblem?: OnContextProblem): SessionProjection {
  const selected = Array.from(selectContext(view), (i) => view.entry(i));
  const { entries, messages } = projectSelected(selected, onProblem);
  const { thinkingLevel, model } = settingsOfPath(view);
  return { entries, messages, thinkingLevel, model };
}

/**
 * Whether an entry of this type can contribute to a context; `position` is its place in what
 * `selectContext` gives. The bodies of the others need not be loaded to build one.
 */
export function canSpeak(type: string, position: number): boolean {
  switch (type) {
    case "message":
    case "custom_message":
    case "branch_summary":
    case "context_edit":
      return true;
    case "compaction":
      return position === 0;
    default:
      return false;
  }
}
