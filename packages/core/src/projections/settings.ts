/**
 * The model and the thinking level that are in force at the end of a path. Pure; reads the path
 * from its end and loads only the bodies that name one of the two.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import type { PathView } from "./projection.ts";

/** A model as its provider names it. */
export interface ModelReference {
  readonly provider: string;
  readonly modelId: string;
}

/** What is in force on a path; compactions do not reset it. */
export interface PathSettings {
  /** `"off"` until an entry says otherwise. A `ThinkingLevel` as a rule. */
  readonly thinkingLevel: string;
  /** Null until an entry names one. */
  readonly model: ModelReference | null;
}

/**
 * The thinking level of the last `thinking_level_change`, and the model of the last `model_change`
 * or assistant message, whichever is later. Entries that lack these fields do not count. Loads two
 * bodies as a rule; linear in the distance back to the farther of the two entries.
 */
export function settingsOfPath(view: PathView): PathSettings {
  let thinkingLevel: string | undefined;
  let model: ModelReference | undefined;
  for (let i = view.length - 1; i >= 0; i--) {
    if (thinkingLevel !== undefined && model !== undefined) break;
    const type = view.type(i);
    if (type === "thinking_level_change") thinkingLevel ??= levelOf(view, i);
    else if (namesModel(view, i, type)) model ??= modelOf(view.entry(i));
  }
  return { thinkingLevel: thinkingLevel ?? "off", model: model ?? null };
}

function namesModel(view: PathView, i: number, type: string): boolean {
  return type === "model_change" || (type === "message" && view.role(i) === "assistant");
}

function levelOf(view: PathView, i: number): string | undefined {
  const entry = view.entry(i);
  const level: unknown = entry.type === "thinking_level_change" ? entry.thinkingLevel : undefined;
  return typeof level === "string" ? level : undefined;
}

function modelOf(entry: SessionEntry): ModelReference | undefined {
  if (entry.type === "model_change") return reference(entry.provider, entry.modelId);
  if (entry.type !== "message" || entry.message?.role !== "assistant") return undefined;
  return reference(entry.message.provider, entry.message.model);
}

function reference(provider: unknown, modelId: unknown): ModelReference | undefined {
  const isComplete = typeof provider === "string" && typeof modelId === "string";
  return isComplete ? { provider, modelId } : undefined;
}
