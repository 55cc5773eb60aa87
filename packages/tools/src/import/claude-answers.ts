/** Merges the records of one answer, which Claude Code writes block by block, into one message. */
import type { JsonValue } from "@branchlog/streaming";
import type { AssistantMessage, KnownDraft, Usage } from "@branchlog/core/entries";
import {
  claudeStopReason,
  claudeUsage,
  custom,
  noUsage,
  objectAt,
  stringAt,
  syntheticModel,
  taskDigest,
  usageOfBoth,
} from "@branchlog/core/internal";
import type { AssistantContent, MappedContent } from "@branchlog/core/internal";
import type { AnswerGroup, ClaudeRecord, ClaudeTree, TreeNode } from "./claude-tree.ts";
import { emptyNode, settled } from "./claude-tree.ts";
import { mergedBytesMax, waitingMax } from "./limits.ts";

type AssistantParts = MappedContent<AssistantContent>;

interface PendingAnswer {
  readonly node: TreeNode;
  readonly parent: TreeNode;
  readonly group: AnswerGroup;
  readonly record: ClaudeRecord;
  readonly content: AssistantContent[];
  readonly rest: JsonValue[];
  readonly followers: Follower[];
  usage: Usage;
  stopReason: string | undefined;
  bytes: number;
}

interface Follower {
  readonly record: ClaudeRecord;
  readonly drafts: readonly KnownDraft[];
  readonly node: TreeNode;
}

interface TaskCall {
  readonly callId: string;
  readonly node: TreeNode;
}

const recentMax = 256;

export class ClaudeAnswers {
  readonly #tree: ClaudeTree;
  readonly #recent: AnswerGroup[] = [];
  readonly #toolNames = new Map<string, string>();
  readonly #tasks = new Map<string, TaskCall>();
  #pending: PendingAnswer | undefined;

  constructor(tree: ClaudeTree) {
    this.#tree = tree;
  }

  toolOf(callId: string): string | undefined {
    return this.#toolNames.get(callId);
  }

  /** Undefined if it is not recent. */
  taskCallOf(task: string): TaskCall | undefined {
    return this.#tasks.get(taskDigest(task));
  }

  continueWith(record: ClaudeRecord, { content, rest }: AssistantParts): boolean {
    const pending = this.#pending;
    if (pending === undefined || record.isSide !== pending.node.isSide) return false;
    const message = objectAt(record.value, "message");
    const { id } = pending.group;
    if (id === undefined || stringAt(message, "id") !== id) return false;
    if (!this.#hasRoom(pending, record)) return false;
    for (const block of content) pending.content.push(block);
    this.#noteCalls(pending, content);
    for (const block of rest) pending.rest.push(block);
    pending.usage = usageOfBoth(pending.usage, claudeUsage(message), Math.max);
    pending.stopReason = stringAt(message, "stop_reason") ?? pending.stopReason;
    pending.bytes += record.bytes;
    this.#tree.name(record, pending.node);
    return true;
  }

  /** Puts a record after the pending answer; false if it does not belong to it. */
  followWith(
    record: ClaudeRecord,
    drafts: readonly KnownDraft[],
    callIds: readonly string[],
  ): boolean {
    const pending = this.#pending;
    if (pending === undefined || record.isSide !== pending.node.isSide) return false;
    if (!this.#hasRoom(pending, record)) return false;
    const { group } = pending;
    if (!callIds.every((id) => group.open?.has(id))) return false;
    for (const id of callIds) group.open?.delete(id);
    const node = emptyNode(pending.node.model, record.isSide);
    node.group = group;
    pending.followers.push({ record, drafts, node });
    pending.bytes += record.bytes;
    this.#tree.name(record, node);
    return true;
  }

  /** Begins an answer; the one before must have been written. */
  begin(record: ClaudeRecord, parent: TreeNode, parts: AssistantParts): void {
    const message = objectAt(record.value, "message");
    const id = stringAt(message, "id");
    const model = stringAt(message, "model") || syntheticModel;
    const begun = id !== undefined && parent.group?.id === id ? parent.group : undefined;
    const above = begun === undefined ? parent : settled(begun.tail);
    const isSame = model === syntheticModel || model === above.model;
    const node = emptyNode(isSame ? above.model : model, record.isSide);
    const group = begun ?? { id, tail: node, open: undefined, counted: noUsage };
    node.group = group;
    if (begun === undefined) this.#remember(group);
    const stopReason = stringAt(message, "stop_reason");
    const usage = claudeUsage(message);
    const { bytes } = record;
    const answer = { ...parts, usage, stopReason, bytes, followers: [] };
    this.#pending = { node, parent: above, group, record, ...answer };
    this.#noteCalls(this.#pending, parts.content);
    this.#tree.name(record, node);
  }

  flush(): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    const { node, record, group } = pending;
    let parent = pending.parent;
    if (node.model !== parent.model) {
      const change = { type: "model_change", provider: "anthropic", modelId: node.model } as const;
      parent = this.#tree.write(change, parent, record, { part: "model", model: node.model });
    }
    this.#writeParts(pending, parent);
    group.tail = node;
    group.counted = usageOfBoth(group.counted, pending.usage, Math.max);
    for (const follower of pending.followers) {
      this.#tree.fillAll(follower.node, follower.drafts, settled(group.tail), follower.record);
      group.tail = follower.node;
    }
  }

  #hasRoom({ group, bytes }: PendingAnswer, record: ClaudeRecord): boolean {
    if (this.#tree.nodeOf(record.parentUuid)?.group !== group) return false;
    return bytes + record.bytes <= mergedBytesMax;
  }

  #noteCalls({ group, node }: PendingAnswer, content: readonly AssistantContent[]): void {
    for (const block of content) {
      if (block.type !== "toolCall") continue;
      (group.open ??= new Set()).add(block.id);
      this.#toolNames.set(block.id, block.name);
      const task = block.arguments["prompt"];
      if (typeof task !== "string") continue;
      const oldest = this.#tasks.keys().next().value;
      if (this.#tasks.size >= waitingMax && oldest !== undefined) this.#tasks.delete(oldest);
      this.#tasks.set(taskDigest(task), { callId: block.id, node });
    }
  }

  /** Results come soon: open calls of old answers are dropped, their positions are not. */
  #remember(group: AnswerGroup): void {
    this.#recent.push(group);
    const old = this.#recent.length > recentMax ? this.#recent.shift() : undefined;
    if (old === undefined) return;
    old.open = undefined;
    old.counted = noUsage;
  }

  #writeParts(pending: PendingAnswer, parent: TreeNode): void {
    const { node, record, content, rest, group } = pending;
    const blocks = custom("claude.blocks", { blocks: rest });
    if (content.length === 0) {
      this.#tree.fill(node, blocks, parent, record, "blocks");
      return;
    }
    const draft = { type: "message", message: messageOf(pending) } as const;
    this.#tree.fill(node, draft, parent, record, 0);
    if (rest.length === 0) return;
    node.next = this.#tree.write(blocks, node, record, { part: "blocks", group });
  }
}

function messageOf(pending: PendingAnswer): AssistantMessage {
  const { node, record, content, usage, group } = pending;
  const isError = record.value["isApiErrorMessage"] === true;
  const said = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const error = stringAt(record.value, "error");
  return {
    role: "assistant",
    content,
    api: "anthropic-messages",
    provider: "anthropic",
    model: node.model === "" ? syntheticModel : node.model,
    usage: usageOfBoth(usage, group.counted, (all, counted) => Math.max(0, all - counted)),
    stopReason: isError ? "error" : claudeStopReason(pending.stopReason, content),
    timestamp: Date.parse(record.time),
    ...(isError ? { errorMessage: said.join("\n") || (error ?? "") } : {}),
  };
}
