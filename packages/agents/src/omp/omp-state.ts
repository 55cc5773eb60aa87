/**
 * The state of a path of omp's entries besides its messages: models by role, injected rules, mode,
 * service tier. Pure; loads only the bodies that hold it.
 */
import { mainRole, roleModelType, settingsOfPath, isStoredObject } from "@branchlog/core/rows";
import type { SessionEntry } from "@branchlog/core";
import type { PathView } from "@branchlog/core/rows";

/** A service tier for each family of providers. */
export type ServiceTier = Readonly<Record<string, string>>;

/** Compactions and resets do not change it. */
export interface OmpState {
  /** `provider/modelId` by role; the model of the conversation under `default`. */
  readonly models: Record<string, string>;
  /** `"off"` until an entry changes it. */
  readonly thinkingLevel: string;
  /** The user's choice, for instance `auto`; else the level. */
  readonly configuredThinkingLevel: string;
  /** Each rule once, in the order of their first injections. */
  readonly injectedTtsrRules: string[];
  /** `"none"` outside of any. */
  readonly mode: string;
  readonly modeData: Readonly<Record<string, unknown>> | undefined;
  readonly serviceTier: ServiceTier | undefined;
}

/** Linear; the model of the conversation as in `settingsOfPath`. */
export function ompStateOfPath(view: PathView): OmpState {
  const fold = new OmpFold();
  for (let i = 0; i < view.length; i += 1) {
    if (speaksOfState(view, i)) fold.add(view.entry(i));
  }
  const { thinkingLevel, model } = settingsOfPath(view);
  const models = new Map(fold.models);
  const isNamed = models.has(mainRole) && fold.isMainModelNamed;
  if (!isNamed && model !== null) models.set(mainRole, `${model.provider}/${model.modelId}`);
  return {
    models: Object.fromEntries(models),
    thinkingLevel,
    configuredThinkingLevel: fold.configured ?? thinkingLevel,
    injectedTtsrRules: [...fold.rules],
    mode: fold.mode,
    modeData: fold.modeData,
    serviceTier: fold.serviceTier,
  };
}

const stateTypes: ReadonlySet<string> = new Set([
  "thinking_level_change",
  "model_change",
  "ttsr_injection",
  "mode_change",
  "service_tier_change",
]);

function speaksOfState(view: PathView, i: number): boolean {
  const type = view.type(i);
  return stateTypes.has(type) || (type === "custom" && view.customType(i) === roleModelType);
}

/** The entries of omp are unknown types to the core: their fields are checked one by one. */
class OmpFold {
  readonly models = new Map<string, string>();
  readonly rules = new Set<string>();
  /** Whether the last choice of the main model is an entry of omp. */
  isMainModelNamed = false;
  configured: string | undefined;
  mode = "none";
  modeData: Readonly<Record<string, unknown>> | undefined;
  serviceTier: ServiceTier | undefined;

  add(entry: SessionEntry): void {
    const field = (name: string): unknown => Reflect.get(entry, name);
    const type: string = entry.type;
    switch (type) {
      case "thinking_level_change":
        this.configured = textOf(field("configured"));
        break;
      case "model_change":
        this.#addModel(field("model"), field("role"));
        break;
      case "custom":
        this.#addRoleModel(field("data"));
        break;
      case "ttsr_injection":
        for (const rule of listOf(field("injectedRules"))) this.rules.add(rule);
        break;
      case "mode_change":
        this.mode = textOf(field("mode")) ?? this.mode;
        this.modeData = recordOf(field("data"));
        break;
      case "service_tier_change":
        this.serviceTier = tierOf(field("serviceTier"));
    }
  }

  #addModel(model: unknown, role: unknown): void {
    const name = textOf(role) ?? mainRole;
    const isNamed = typeof model === "string" && model !== "";
    if (isNamed) this.models.set(name, model);
    if (name === mainRole) this.isMainModelNamed = isNamed;
  }

  #addRoleModel(data: unknown): void {
    if (isStoredObject(data) && textOf(Reflect.get(data, "role")) !== undefined) {
      this.#addModel(Reflect.get(data, "model"), Reflect.get(data, "role"));
    }
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  // Decoding boundary: an object that was stored.
  return isStoredObject(value) ? (value as Readonly<Record<string, unknown>>) : undefined;
}

/** Older logs hold one tier for everything, which is OpenAI's. */
function tierOf(value: unknown): ServiceTier | undefined {
  if (typeof value === "string") return { openai: value };
  const tiers = Object.entries(recordOf(value) ?? {}).flatMap(([family, tier]) =>
    typeof tier === "string" ? [[family, tier] as const] : [],
  );
  return tiers.length === 0 ? undefined : Object.fromEntries(tiers);
}
