/** The lines of a generated session as another agent would have written the same conversation. */
import type { Form } from "./options.ts";

interface Entry {
  readonly [key: string]: unknown;
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
  readonly message?: Message;
}

interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly model?: string;
  readonly usage?: Readonly<Record<string, number>>;
  readonly stopReason?: string;
  readonly toolCallId?: string;
  readonly details?: unknown;
  readonly isError?: boolean;
}

interface Block {
  readonly [key: string]: unknown;
  readonly type: string;
}

/** Of one session; its lines are given in their order, the header first. */
export type LineForm = (line: string) => readonly string[];

export function lineForm(form: Form): LineForm {
  if (form === "pi") return (line) => [line];
  const recordsOf = form === "claude" ? claudeRecords() : codexRecords;
  // The generator wrote the line.
  return (line) => recordsOf(JSON.parse(line) as Entry).map((record) => JSON.stringify(record));
}

/** Each entry is one record at least, so that parents need not be remembered. */
function claudeRecords(): (entry: Entry) => object[] {
  let of: object = {};
  return (entry) => {
    if (entry.type === "session") {
      const { id: sessionId, cwd } = entry;
      of = { userType: "external", cwd, sessionId, version: "2.1.30", gitBranch: "main" };
      return [];
    }
    const ownParts = claudeParts(entry);
    return ownParts.map((part, at) => {
      // The last record of an entry is what its children name.
      const uuid = uuidOf(entry.id, ownParts.length - 1 - at);
      const before = at > 0 ? uuidOf(entry.id, ownParts.length - at) : undefined;
      const parentUuid = before ?? (entry.parentId === null ? null : uuidOf(entry.parentId, 0));
      const { timestamp } = entry;
      return { parentUuid, isSidechain: false, ...of, ...part, uuid, timestamp };
    });
  };
}

function claudeParts(entry: Entry): object[] {
  const { type, message, id } = entry;
  if (message?.role === "user")
    return [{ type: "user", message: { role: "user", content: message.content } }];
  if (message?.role === "assistant") return claudeAnswer(message, id);
  if (message?.role === "toolResult") {
    const result = {
      tool_use_id: message.toolCallId,
      type: "tool_result",
      content: message.content,
    };
    const content = [{ ...result, is_error: message.isError === true }];
    return [{ type: "user", message: { role: "user", content }, toolUseResult: message.details }];
  }
  if (type === "compaction") {
    const compactMetadata = { trigger: "auto", preTokens: entry["tokensBefore"] };
    const boundary = { type: "system", subtype: "compact_boundary", compactMetadata };
    const said = { role: "user", content: entry["summary"] };
    return [boundary, { type: "user", message: said, isCompactSummary: true }];
  }
  return [{ type: "system", subtype: "informational", content: JSON.stringify(entry) }];
}

/** A record for each block, as they stream. */
function claudeAnswer(message: Message, entryId: string): object[] {
  const { model, usage = {}, stopReason } = message;
  const spent = {
    input_tokens: usage["input"],
    cache_creation_input_tokens: usage["cacheWrite"],
    cache_read_input_tokens: usage["cacheRead"],
    output_tokens: usage["output"],
    service_tier: "standard",
  };
  const head = { model, id: `msg_${entryId}`, type: "message", role: "assistant" };
  const stop_reason = stopReason === "toolUse" ? "tool_use" : "end_turn";
  return blocksOf(message).map((block) => ({
    type: "assistant",
    message: {
      ...head,
      content: [claudeBlock(block)],
      stop_reason,
      stop_sequence: null,
      usage: spent,
    },
    requestId: `req_${entryId}`,
  }));
}

function claudeBlock(block: Block): object {
  const { type, thinking, thinkingSignature: signature, id, name, arguments: input } = block;
  if (type === "thinking") return { type, thinking, signature };
  return type === "toolCall" ? { type: "tool_use", id, name, input } : block;
}

function uuidOf(id: string, part: number): string {
  return `${id.padEnd(8, "0").slice(0, 8)}-0000-4000-8000-${String(part).padStart(12, "0")}`;
}

function codexRecords(entry: Entry): object[] {
  return codexPayloads(entry).map(([type, payload]) => {
    return { timestamp: entry.timestamp, type, payload };
  });
}

function codexPayloads({ type, message, ...entry }: Entry): [type: string, payload: object][] {
  if (type === "session") {
    const from = { originator: "codex_cli_rs", cli_version: "0.150.0", source: "cli" };
    return [
      ["session_meta", { id: entry.id, timestamp: entry.timestamp, cwd: entry["cwd"], ...from }],
    ];
  }
  if (type === "compaction") return [["compacted", { message: entry["summary"] }]];
  if (message?.role === "user") {
    const texts = blocksOf(message).flatMap(({ text }) => (typeof text === "string" ? [text] : []));
    const content = texts.map((text) => ({ type: "input_text", text }));
    const said = { type: "user_message", message: texts.join(""), images: [] };
    return [
      ["response_item", { type: "message", role: "user", content }],
      ["event_msg", said],
    ];
  }
  if (message?.role === "toolResult") {
    const [first] = blocksOf(message);
    const output = { type: "function_call_output", call_id: message.toolCallId };
    return [["response_item", { ...output, output: first?.["text"] ?? "" }]];
  }
  if (message?.role !== "assistant") return [];
  const items = blocksOf(message).map(codexItem);
  const { input = 0, output = 0, cacheRead = 0 } = message.usage ?? {};
  const last_token_usage = {
    input_tokens: input + cacheRead,
    cached_input_tokens: cacheRead,
    output_tokens: output,
    reasoning_output_tokens: 0,
    total_tokens: input + cacheRead + output,
  };
  const info = { total_token_usage: { of: entry.id, ...last_token_usage }, last_token_usage };
  return [
    ...items.map((item): [string, object] => ["response_item", item]),
    ["event_msg", { type: "token_count", info }],
  ];
}

function codexItem(block: Block): object {
  const { type, id: call_id, name } = block;
  if (type === "toolCall") {
    return { type: "function_call", name, arguments: JSON.stringify(block["arguments"]), call_id };
  }
  if (type === "thinking") {
    const summary = [{ type: "summary_text", text: block["thinking"] }];
    return { type: "reasoning", summary, encrypted_content: block["thinkingSignature"] };
  }
  return {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: block["text"] }],
  };
}

function blocksOf({ content }: Message): readonly Block[] {
  // The generator wrote blocks with a type.
  return typeof content === "string" ? [{ type: "text", text: content }] : (content as Block[]);
}
