/**
 * The model and the thinking level in force at the end of a path. Pure; reads the path from its end
 * and loads only bodies that name one of the two.
 *
 * In pi, the model that answered last counts, and so does a later choice. In omp, a choice counts
 * until the next one, also where another model answered. The dialect of the choice decides.
 */
import { mainRole, modelReference, modelRole } from "../dialects/model-reference.ts";
import type { ModelReference } from "../dialects/model-reference.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import type { PathView } from "./projection.ts";

/** The current settings on a path; compactions do not reset them. */
export interface PathSettings {
  /** `"off"` until an entry changes it. Usually a `ThinkingLevel`. */
  readonly thinkingLevel: string;
  /** Null until an entry names one. */
  readonly model: ModelReference | null;
}

/** With the state that a later call needs to continue. */
export interface SettingsState extends PathSettings {
  /** Whether the model stays, whichever answers. */
  readonly isModelChosen: boolean;
}

interface ModelChange {
  readonly model: ModelReference;
  readonly isModelChosen: boolean;
}

/**
 * The thinking level of the last `thinking_level_change`, and the model of the last `model_change`
 * for the conversation, or of a later assistant message. Entries that lack these fields do not
 * count. Usually loads three bodies; linear in the distance back to the farther of the changes.
 */
export function settingsOfPath(view: PathView): PathSettings {
  return settingsOf(settingsStateOfPath(view));
}

export function settingsStateOfPath(view: PathView): SettingsState {
  let thinkingLevel: string | undefined;
  let change: ModelChange | undefined;
  let answering: ModelReference | undefined;
  for (let i = view.length - 1; i >= 0; i--) {
    if (thinkingLevel !== undefined && change !== undefined) break;
    const type = view.type(i);
    if (type === "thinking_level_change") thinkingLevel ??= levelOf(view.entry(i));
    else if (change !== undefined) continue;
    else if (type === "model_change") change = changeAt(view, i);
    else if (type === "message" && view.role(i) === "assistant") {
      answering ??= answeringModel(view.entry(i));
    }
  }
  const isModelChosen = change?.isModelChosen === true;
  const model = isModelChosen ? change?.model : (answering ?? change?.model);
  return { thinkingLevel: thinkingLevel ?? "off", model: model ?? null, isModelChosen };
}

/** The entries of a path that usually say it: the last of each kind. Loads none. */
export function settingsEntries(view: PathView): readonly number[] {
  const last = new Map<string, number>();
  for (let i = view.length - 1; i >= 0 && last.size < settingTypes.size; i -= 1) {
    const type = view.type(i);
    const isOther = type === "message" ? view.role(i) !== "assistant" : !settingTypes.has(type);
    if (!isOther && !last.has(type)) last.set(type, i);
  }
  return [...last.values()];
}

const settingTypes = new Set(["thinking_level_change", "model_change", "message"]);

/** The same object if the entry changes nothing. */
export function settingsAfter(before: SettingsState, entry: SessionEntry): SettingsState {
  const change = modelChange(entry);
  const answering = before.isModelChosen ? undefined : answeringModel(entry);
  const thinkingLevel = levelOf(entry) ?? before.thinkingLevel;
  const model = change?.model ?? answering ?? before.model;
  const isModelChosen = change?.isModelChosen ?? before.isModelChosen;
  const isSame =
    thinkingLevel === before.thinkingLevel &&
    model === before.model &&
    isModelChosen === before.isModelChosen;
  return isSame ? before : { thinkingLevel, model, isModelChosen };
}

export function settingsOf({ thinkingLevel, model }: SettingsState): PathSettings {
  return { thinkingLevel, model };
}

function changeAt(view: PathView, i: number): ModelChange | undefined {
  const role = view.role(i);
  return role === undefined || role === mainRole ? modelChange(view.entry(i)) : undefined;
}

/** Undefined for other roles. */
function modelChange(entry: SessionEntry): ModelChange | undefined {
  if (entry.type !== "model_change") return undefined;
  const { model = "", provider, modelId } = entry;
  const role = modelRole(entry);
  if (role === undefined) {
    const own = reference(provider, modelId);
    return own && { model: own, isModelChosen: false };
  }
  const named = role === mainRole ? modelReference(model) : undefined;
  return named && { model: named, isModelChosen: true };
}

function answeringModel(entry: SessionEntry): ModelReference | undefined {
  if (entry.type !== "message" || entry.message?.role !== "assistant") return undefined;
  return reference(entry.message.provider, entry.message.model);
}

/** omp stores null where thinking is off. */
function levelOf(entry: SessionEntry): string | undefined {
  const level: unknown = entry.type === "thinking_level_change" ? entry.thinkingLevel : undefined;
  if (level === null) return "off";
  return typeof level === "string" ? level : undefined;
}

function reference(provider: unknown, modelId: unknown): ModelReference | undefined {
  const isComplete = typeof provider === "string" && typeof modelId === "string";
  return isComplete ? { provider, modelId } : undefined;
}
