/** Collects the turns of a path as a document holds them, counting losses. Pure. */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { SessionEntry } from "@branchlog/core";
import { sourceType, isObject } from "@branchlog/core/rows";
import type { ExactArguments } from "@branchlog/core/rows";
import { furtherUserType, chatOfContent, chatOfMessage } from "./chat-messages.ts";
import type { LossReason } from "./chat-messages.ts";
import type { DocumentShape } from "./document-types.ts";
import { textOf } from "./json-values.ts";
import { turnNoteType } from "./session-turns.ts";
import type { SessionTurn } from "./session-turns.ts";

export interface CollectedTurn {
  readonly turn: SessionTurn;
  /** Whether a document held all of it. */
  isWhole: boolean;
  /** Its messages as found in a document, where entries cannot express them. */
  asFound: JsonValue | undefined;
  /** All messages, or those after `asFound`. */
  chat: JsonObject[];
}

export interface Loss {
  readonly reason: LossReason;
  readonly count: number;
}

export class TurnCollector {
  readonly turns: CollectedTurn[] = [];
  source: DocumentSource | undefined;
  readonly #known: ReadonlyMap<string, SessionTurn>;
  readonly #losses = new Map<LossReason, number>();
  /** The system prompt before the first turn, in parts. */
  readonly systemTexts: string[] = [];

  constructor(turns: readonly SessionTurn[]) {
    this.#known = new Map(turns.map((turn) => [turn.entryId, turn]));
  }

  get losses(): Loss[] {
    const losses = [...this.#losses].map(([reason, count]) => ({ reason, count }));
    return losses.sort((one, other) => (one.reason < other.reason ? -1 : 1));
  }

  readonly lose = (reason: LossReason, count: number = 1): void => {
    if (count > 0) this.#losses.set(reason, (this.#losses.get(reason) ?? 0) + count);
  };

  add(entry: SessionEntry, exact?: ExactArguments): void {
    const turn = this.#known.get(entry.id);
    if (turn !== undefined) {
      this.turns.push({ turn, isWhole: false, asFound: undefined, chat: [] });
    }
    switch (entry.type) {
      case "message":
        this.#addMessage(entry, exact);
        break;
      case "custom_message":
        if (entry.customType !== furtherUserType) {
          this.lose("custom messages as messages of the user");
        }
        this.#say([chatOfContent(entry.content, this.lose)]);
        break;
      case "custom":
        this.#addCustom(entry);
        break;
      default:
        this.lose(lossOfType.get(entry.type) ?? "entries of unknown types");
    }
  }

  #addMessage(entry: SessionEntry & { type: "message" }, exact?: ExactArguments): void {
    const message: unknown = entry.message;
    if (!isObject(message)) {
      this.lose("messages of unknown roles");
      return;
    }
    const isPrompt = message["role"] === "system" && this.turns.length === 0;
    const said = chatOfMessage(entry.message, this.lose, exact);
    if (isPrompt) this.systemTexts.push(...said.map(({ content }) => textOf(content)));
    else this.#say(said);
    if (hasDetailedUsage(message)) this.lose("details of tokens and costs");
  }

  #say(said: readonly JsonObject[]): void {
    const turn = this.turns.at(-1);
    if (turn === undefined) this.lose("before the first turn", said.length);
    else turn.chat.push(...said);
  }

  #addCustom(entry: SessionEntry & { type: "custom" }): void {
    this.source ??= documentSourceOf(entry);
    const found = foundTurnOf(entry);
    const turn = this.turns.at(-1);
    if (found !== undefined && turn?.turn.entryId === found.targetId) {
      turn.isWhole = true;
      if (found.messages === undefined) return;
      turn.asFound = found.messages;
      turn.chat = [];
    } else if (entry.customType !== turnNoteType && entry.customType !== sourceType) {
      this.lose("custom entries");
    }
  }
}

function hasDetailedUsage({ usage }: JsonObject): boolean {
  if (!isObject(usage)) return false;
  const { output, cacheRead, cacheWrite } = usage;
  return [output, cacheRead, cacheWrite].some((count) => typeof count === "number" && count > 0);
}

const lossOfType: ReadonlyMap<string, LossReason> = new Map([
  ["thinking_level_change", "changes of model or thinking level"],
  ["model_change", "changes of model or thinking level"],
  ["compaction", "compactions and branch summaries"],
  ["branch_summary", "compactions and branch summaries"],
  ["label", "labels"],
  ["session_info", "names"],
  ["usage", "usage beside the conversation"],
  ["context_edit", "context edits"],
]);

export interface DocumentSource {
  readonly kind: "connectonion";
  readonly shape: DocumentShape;
  readonly keys: readonly string[];
  readonly fields: JsonObject;
  /** Under their keys. */
  readonly messages: JsonObject;
}

function documentSourceOf(entry: SessionEntry): DocumentSource | undefined {
  const data = entry.type === "custom" && entry.customType === sourceType ? entry.data : undefined;
  if (!isObject(data) || data["kind"] !== "connectonion") return undefined;
  const { shape, keys, fields, messages } = data;
  return {
    kind: "connectonion",
    shape: shape === "nested" ? "nested" : "keyed",
    keys: Array.isArray(keys) ? keys.filter((key) => typeof key === "string") : [],
    fields: isObject(fields) ? fields : {},
    messages: isObject(messages) ? messages : {},
  };
}

export interface FoundTurn {
  readonly targetId: string;
  /** Its messages as found, where entries cannot express them; null if absent. */
  readonly messages?: JsonValue;
}

function foundTurnOf(entry: SessionEntry): FoundTurn | undefined {
  const data =
    entry.type === "custom" && entry.customType === turnNoteType ? entry.data : undefined;
  if (!isObject(data) || data["isWhole"] !== true) return undefined;
  const { targetId, messages } = data;
  if (typeof targetId !== "string") return undefined;
  return messages === undefined ? { targetId } : { targetId, messages };
}
