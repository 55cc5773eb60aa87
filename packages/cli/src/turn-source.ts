/**
 * The turns of a session: in a log of any dialect, or in a document of ConnectOnion, which is
 * recognised by its content. Opened for reading only.
 */
import type { CommandIo, ReadingOptions } from "./command-io.ts";
import { openForReading } from "./opened-session.ts";
import { fieldOf, stringOf } from "./text/stored-field.ts";

export interface ShownTotals {
  readonly count: number;
  readonly total_cost: number;
  /** With `--estimate`, of a log. */
  readonly total_estimated_cost?: number | null;
  readonly total_tokens: number;
  /** Absent in documents. */
  readonly total_cache_read_tokens?: number;
  readonly total_cache_write_tokens?: number;
  readonly passed: number;
  readonly failed: number;
}

/** As stored. */
export interface TurnSource {
  readonly turns: readonly object[];
  readonly totals: ShownTotals;
  /** Empty for a log. */
  readonly diagnostics: readonly { readonly kind: string; readonly message: string }[];
  /** Throws `ERR_INVALID_ARGUMENT` for an unknown turn. */
  messagesOfTurn(turn: number): Promise<readonly object[]>;
  /** The messages given to the model when the turn began. Throws as `messagesOfTurn`. */
  messagesForReplay(turn: number): Promise<readonly object[]>;
}

export interface TurnReading extends ReadingOptions {
  /** Whether costs that a log does not store are estimated; documents have theirs. */
  readonly estimate: boolean;
}

/** @throws BranchlogError as `openSession` and `openConnectonion` do. */
export async function openTurns(
  path: string,
  io: CommandIo,
  options: TurnReading,
): Promise<TurnSource> {
  // Loaded on demand: a YAML parser would delay the start of every other command.
  const connectonion = await import("@branchlog/agents/connectonion");
  if (!connectonion.isConnectonion(path) || connectonion.isEval(path)) {
    const { session } = await openForReading(path, io, options);
    const turns = await connectonion.sessionTurns(session, { estimates: options.estimate });
    return {
      turns,
      totals: connectonion.turnTotals(turns),
      diagnostics: [],
      messagesOfTurn: (turn) => connectonion.messagesOfTurn(session, turn),
      messagesForReplay: (turn) => connectonion.messagesForReplay(session, turn),
    };
  }
  const session = await connectonion.openConnectonion(path);
  const { turns, totals, diagnostics } = session;
  return {
    turns,
    totals,
    diagnostics,
    messagesOfTurn: async (turn) => session.messagesOfTurn(turn),
    messagesForReplay: async (turn) => session.messagesForReplay(turn),
  };
}

/** Tool calls of a document become blocks of its content, as in a log. */
export function inBlocks(message: object): object {
  const calls = fieldOf(message, "tool_calls");
  if (!Array.isArray(calls)) return message;
  const text = stringOf(message, "content");
  const said = text === undefined || text === "" ? [] : [{ type: "text", text }];
  const blocks = calls.map((call: unknown) => {
    const called = fieldOf(call, "function");
    const given = stringOf(called, "arguments") ?? "";
    return { type: "toolCall", name: stringOf(called, "name"), arguments: parsed(given) };
  });
  return { ...message, content: [...said, ...blocks] };
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
