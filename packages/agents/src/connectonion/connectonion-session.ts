/** A ConnectOnion session. Appends start from the current file, so that edits by others stay. */
import { objectText, isObject } from "@branchlog/core/rows";
import { runAsync } from "@branchlog/streaming";
import type { OptionNames } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import { LogFile, createLog, engineSettings, requireOptions } from "@branchlog/core/files";
import type { EngineSettings } from "@branchlog/core/files";
import { localTimeText } from "./costs-and-times.ts";
import { readFileAs, replaceDocument } from "./document-file.ts";
import { connectonionNames } from "./document-head.ts";
import type { ConnectonionOptions } from "./document-head.ts";
import { numberOfTurn } from "./document-types.ts";
import type {
  ChatMessage,
  ConnectonionDocument,
  ConnectonionTotals,
  ConnectonionTurn,
  DocumentDiagnostic,
  NewTurn,
  StoredTotals,
} from "./document-types.ts";
import { inOrder, parsedObject } from "./json-values.ts";
import { readDocument } from "./read-document.ts";
import { noSuchTurn } from "./session-turns.ts";
import { spliceTurn } from "./turn-splice.ts";
import type { SplicedTurn, TurnToAdd } from "./turn-splice.ts";
import { documentText } from "./yaml-text.ts";

export interface CreateConnectonionOptions extends ConnectonionOptions {
  readonly name: string;
  readonly systemPrompt: string;
}

const createNames: OptionNames<CreateConnectonionOptions> = {
  ...connectonionNames,
  name: true,
  systemPrompt: true,
};

export interface AppendedTurn {
  /** The number of the turn: one more than the highest in the document. */
  readonly turn: number;
}

/**
 * Opens a document of either shape without changing it.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE`, `ERR_DOCUMENT_DAMAGED` with line
 * and column, `ERR_DOCUMENT_REFUSED`.
 * @example
 * const session = await openConnectonion(".co/sessions/oo.yaml");
 * for (const { turn, input, result } of session.turns) console.log(turn, input, result);
 */
export async function openConnectonion(
  path: string,
  options: ConnectonionOptions = {},
): Promise<ConnectonionSession> {
  const settings = engineSettings(requireOptions(options, connectonionNames));
  const file = new LogFile(settings.ports.fs, path).path;
  const document = await readFileAs(settings.ports, file, documentAt(file));
  return new ConnectonionSession(file, document, settings);
}

/**
 * Creates a document without turns. The file has mode 0600; missing directories are made.
 * @throws BranchlogError `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`.
 */
export async function createConnectonion(
  path: string,
  options: CreateConnectonionOptions,
): Promise<ConnectonionSession> {
  const { name, systemPrompt, ...settings } = requireOptions(options, createNames);
  const { ports } = engineSettings(settings);
  const text = documentText({
    name,
    created: localTimeText(ports.clock.now()),
    updated: "",
    total_cost: 0,
    total_tokens: 0,
    turns: [],
    system_prompt: systemPrompt,
    messages: {},
  });
  createLog(ports, new LogFile(ports.fs, path).path, [Buffer.from(text)]);
  return openConnectonion(path, settings);
}

function documentAt(path: string): (text: string) => ConnectonionDocument {
  return (text) => readDocument(text, path).document;
}

/** Opened by `openConnectonion` and `createConnectonion`; needs no close. */
export class ConnectonionSession {
  readonly path: string;
  readonly #settings: EngineSettings;
  #document: ConnectonionDocument;

  /** @internal Sessions are opened, not constructed. */
  constructor(path: string, document: ConnectonionDocument, settings: EngineSettings) {
    this.path = path;
    this.#document = document;
    this.#settings = settings;
  }

  get document(): ConnectonionDocument {
    return this.#document;
  }

  get turns(): readonly ConnectonionTurn[] {
    return this.#document.turns;
  }

  get storedTotals(): StoredTotals {
    return this.#document.storedTotals;
  }

  get totals(): ConnectonionTotals {
    return this.#document.totals;
  }

  get diagnostics(): readonly DocumentDiagnostic[] {
    return this.#document.diagnostics;
  }

  /** The system prompt, then the messages of all turns. */
  messagesForResume(): ChatMessage[] {
    return [...this.#systemMessages(), ...[...this.#document.messages.values()].flat()];
  }

  /** @throws BranchlogError `ERR_INVALID_ARGUMENT` if there is no such turn. */
  messagesForReplay(turn: number): ChatMessage[] {
    const { input } = this.#turn(turn);
    const before = [...this.#document.messages].filter(([number]) => number < turn);
    const messages = before.flatMap(([, list]) => list);
    return [...this.#systemMessages(), ...messages, { role: "user", content: input }];
  }

  /**
   * The messages of one turn, which may be empty.
   * @throws BranchlogError `ERR_INVALID_ARGUMENT` if there is no such turn.
   */
  messagesOfTurn(turn: number): ChatMessage[] {
    this.#turn(turn);
    return [...(this.#document.messages.get(turn) ?? [])];
  }

  async refresh(): Promise<void> {
    const { ports } = this.#settings;
    this.#document = await readFileAs(ports, this.path, documentAt(this.path));
  }

  /**
   * Appends a turn with its messages, and adds it to the totals. Everything else in the file stays,
   * including what others wrote since the last read.
   * @throws BranchlogError `ERR_UNSERIALIZABLE`, `ERR_INVALID_ARGUMENT`, `ERR_DOCUMENT_DAMAGED`,
   * `ERR_DOCUMENT_REFUSED`, `ERR_LOG_MISSING`, `ERR_LOCK_TIMEOUT`, `ERR_LOG_CHANGED`,
   * `ERR_APPEND_FAILED`; `ERR_DURABILITY_UNKNOWN` if the turn was written but not synced.
   */
  async appendTurn(turn: NewTurn, messages: readonly ChatMessage[]): Promise<AppendedTurn> {
    const { ports } = this.#settings;
    const added = plainTurn(turn, messages, localTimeText(ports.clock.now()));
    let last: { readonly before: string; readonly spliced: SplicedTurn } | undefined;
    const plan = (before: string): SplicedTurn => {
      if (last?.before !== before) {
        last = { before, spliced: spliceTurn(before, this.path, added) };
      }
      return last.spliced;
    };
    // Parsed before the lock is acquired, and again only if the file changed.
    await readFileAs(ports, this.path, plan);
    const steps = replaceDocument({ ...this.#settings, path: this.path, plan });
    const { turn: number, document } = await runAsync(steps);
    this.#document = document;
    return { turn: number };
  }

  #systemMessages(): ChatMessage[] {
    const content = this.#document.systemPrompt;
    return content === undefined ? [] : [{ role: "system", content }];
  }

  /** The turn of that number; where numbers are wrong, the one at that position. */
  #turn(number: number): ConnectonionTurn {
    const { turns } = this.#document;
    const named = turns.find((turn, place) => numberOfTurn(turn, place) === number);
    const turn = named ?? (Number.isInteger(number) ? turns[number - 1] : undefined);
    if (turn === undefined) throw noSuchTurn(number, turns.length);
    return turn;
  }
}

function plainTurn(turn: NewTurn, messages: readonly ChatMessage[], now: string): TurnToAdd {
  const text = objectText({ turn, messages }, "The turn");
  const { turn: fields, messages: list } = parsedObject(text) ?? {};
  if (!isObject(fields) || !Array.isArray(list) || !list.every((item) => isObject(item))) {
    const message = "A turn is an object, and its messages are a list of objects";
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
  }
  if ("turn" in fields || "messages" in fields) {
    const message = "A new turn has no number, and its messages are an argument of their own";
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
  }
  return {
    fields: inOrder({ timestamp: now, ...fields }, usualKeys),
    messages: list,
    updated: now,
  };
}

const usualKeys: readonly string[] = [
  "input",
  "result",
  "model",
  "duration_ms",
  "tokens",
  "cost",
  "tools_called",
  "timestamp",
];
