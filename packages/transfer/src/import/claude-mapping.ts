/**
 * From the records of a Claude Code transcript to entries: a state machine without I/O. The tree of
 * the source stays a tree. What the model saw becomes messages; what only Claude Code knows becomes
 * custom entries; docs/formats.md lists both, and what is skipped.
 */
import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { KnownDraft } from "@branchlog/core/entries";
import { countAt, objectAt, stringAt, withoutKeys } from "@branchlog/core/internal";
import type { AssistantContent } from "@branchlog/core/internal";
import { ClaudeAnswers } from "./claude-answers.ts";
import { assistantParts, textOf, userParts } from "./claude-content.ts";
import type { UserPart } from "./claude-content.ts";
import { claudeRecord, envelopeKeys, skipReasonOf } from "./claude-record.ts";
import type { ClaudeRecord } from "./claude-record.ts";
import { ClaudeTitles } from "./claude-titles.ts";
import { ClaudeTree, emptyNode, settled } from "./claude-tree.ts";
import type { TreeNode } from "./claude-tree.ts";
import { waitingMax } from "./limits.ts";
import type { LineOutcome, SkipReason } from "./line-tally.ts";
import type { MappingSetting, SourceMapping, SourceRecord } from "./source-mapping.ts";

/** A boundary of a compaction whose summary is expected next. */
interface Boundary {
  readonly node: TreeNode;
  readonly parent: TreeNode;
  readonly record: ClaudeRecord;
}

/** See the file comment. */
export class ClaudeMapping implements SourceMapping {
  readonly #setting: MappingSetting;
  readonly #tree: ClaudeTree;
  readonly #titles: ClaudeTitles;
  readonly #answers: ClaudeAnswers;
  /** Names of tools by the id of their call. */
  readonly #toolNames = new Map<string, string>();
  /** Calls that give a sub-agent its task, by a digest of the task. */
  readonly #tasks = new Map<string, { readonly callId: string; readonly node: TreeNode }>();
  #boundary: Boundary | undefined;
  #metadata: JsonObject | undefined;
  #last: ClaudeRecord;

  constructor(setting: MappingSetting) {
    this.#setting = setting;
    this.#tree = new ClaudeTree(setting);
    this.#titles = new ClaudeTitles(this.#tree, setting.tally, () => this.#flush());
    this.#answers = new ClaudeAnswers(this.#tree, (block, node) => this.#noteCall(block, node));
    this.#last = claudeRecord({ value: {}, line: 0, bytes: 0 }, setting.facts.started);
  }

  push(source: SourceRecord): LineOutcome {
    const record = claudeRecord(source, this.#last.time);
    this.#last = record;
    if (this.#tree.has(record.uuid)) return "repeated";
    switch (record.type) {
      case "user":
        return this.#user(record);
      case "assistant":
        return this.#assistant(record);
      case "system":
        return this.#system(record);
      case "attachment":
        return this.#custom(record, "claude.attachment", record.value["attachment"] ?? null);
      case "custom-title":
      case "ai-title":
      case "summary":
        return this.#titles.push(record);
      default:
        return this.#skip(record, skipReasonOf(record.type));
    }
  }

  end(): void {
    this.#flush();
    this.#titles.end(this.#last);
    const { log } = this.#setting;
    const { tail, root } = this.#tree;
    // A source that is nothing but a sub-agent's ends where that one does.
    if (tail === root || log.lastId === tail.id) return;
    const leaf = { type: "custom", customType: "branchlog.leaf" } as const;
    const { time, line } = this.#last;
    log.add(leaf, { parentId: tail.id, time, seed: `line:${line}#leaf` });
  }

  #user(record: ClaudeRecord): LineOutcome {
    const message = objectAt(record.value, "message");
    if (record.value["isCompactSummary"] === true) return this.#summary(record, message);
    const { parts, rest } = userParts(message?.["content"]);
    const callIds = parts.flatMap((part) => (part.kind === "result" ? [part.callId] : []));
    const { toolUseResult: result } = record.value;
    // Of several results it may belong to any, or to all.
    const [details, apart] = callIds.length === 1 ? [result] : [undefined, result];
    const kept = apart === undefined ? {} : { toolUseResult: apart };
    const isKept = rest.length > 0 || apart !== undefined;
    if (parts.length === 0 && !isKept) return this.#skip(record, "no-content");
    const drafts = parts.map((part) => this.#partDraft(part, record, details));
    if (isKept) drafts.push(custom("claude.blocks", { blocks: rest, ...kept }));
    const isResults = callIds.length > 0 && callIds.length === parts.length;
    if (isResults && this.#answers.followWith(record, drafts, callIds)) return "imported";
    this.#flush();
    let parent = this.#placeOf(record);
    // Results of calls that were made at once stand beside each other in the source.
    const group = callIds.some((id) => parent.group?.open?.has(id)) ? parent.group : undefined;
    if (group !== undefined) parent = settled(group.tail);
    const node = emptyNode(parent.model, record.isSide);
    node.group = group;
    this.#tree.fillAll(node, drafts, parent, record);
    this.#tree.name(record, node);
    if (group === undefined) return "imported";
    group.tail = node;
    for (const id of callIds) group.open?.delete(id);
    return "imported";
  }

  #partDraft(part: UserPart, record: ClaudeRecord, result: JsonValue | undefined): KnownDraft {
    const timestamp = Date.parse(record.time);
    if (part.kind === "result") {
      const { callId, content, isError } = part;
      const toolName = this.#toolNames.get(callId) ?? "unknown";
      const details = result === undefined ? {} : { details: result };
      const named = { role: "toolResult", toolCallId: callId, toolName, content } as const;
      return { type: "message", message: { ...named, ...details, isError, timestamp } };
    }
    const { content } = part;
    if (record.value["isMeta"] !== true) {
      return { type: "message", message: { role: "user", content, timestamp } };
    }
    // The model sees it, and its user does not.
    return { type: "custom_message", customType: "claude.meta", content, display: false };
  }

  #assistant(record: ClaudeRecord): LineOutcome {
    const parts = assistantParts(objectAt(record.value, "message"));
    if (parts.content.length === 0 && parts.rest.length === 0) {
      return this.#skip(record, "no-content");
    }
    if (this.#answers.continueWith(record, parts)) return "imported";
    this.#flush();
    this.#answers.begin(record, this.#placeOf(record), parts);
    return "imported";
  }

  #system(record: ClaudeRecord): LineOutcome {
    if (stringAt(record.value, "subtype") !== "compact_boundary") {
      return this.#custom(record, "claude.system", withoutKeys(record.value, envelopeKeys));
    }
    this.#flush();
    const logical = this.#tree.nodeOf(stringAt(record.value, "logicalParentUuid"));
    const named = logical ?? this.#tree.nodeOf(record.parentUuid);
    const parent = named === undefined ? this.#tree.before(record) : settled(named);
    const node = emptyNode(parent.model, record.isSide);
    this.#boundary = { node, parent, record };
    this.#metadata = objectAt(record.value, "compactMetadata");
    this.#tree.name(record, node);
    return "imported";
  }

  /** A summary stands for all that was said before; with its boundary it is one compaction. */
  #summary(record: ClaudeRecord, message: JsonObject | undefined): LineOutcome {
    const boundary = this.#boundary;
    const above = this.#tree.nodeOf(record.parentUuid);
    const summary = textOf(message?.["content"]);
    if (boundary !== undefined && above === boundary.node) {
      this.#boundary = undefined;
      const draft = this.#compaction(summary);
      this.#tree.fill(boundary.node, draft, boundary.parent, boundary.record, 0);
      this.#tree.name(record, boundary.node);
      return "imported";
    }
    this.#flush();
    const isRoot = record.parentUuid === undefined;
    const parent = isRoot ? this.#tree.before(record) : this.#placeOf(record);
    const draft = this.#compaction(summary);
    this.#tree.name(record, this.#tree.write(draft, parent, record, { part: 0 }));
    return "imported";
  }

  #compaction(summary: string): KnownDraft {
    const metadata = this.#metadata;
    this.#metadata = undefined;
    const head = stringAt(objectAt(metadata, "preservedSegment"), "headUuid");
    return {
      type: "compaction",
      summary,
      firstKeptEntryId: this.#tree.nodeOf(head)?.firstId || null,
      tokensBefore: countAt(metadata, "preTokens"),
      ...(metadata === undefined ? {} : { details: metadata }),
    };
  }

  #custom(record: ClaudeRecord, customType: string, data: JsonValue): LineOutcome {
    const draft = custom(customType, data);
    if (this.#answers.followWith(record, [draft], [])) return "imported";
    this.#flush();
    const node = this.#tree.write(draft, this.#placeOf(record), record, { part: 0 });
    this.#tree.name(record, node);
    return "imported";
  }

  /** Children of a record that is skipped hang from its parent. */
  #skip(record: ClaudeRecord, reason: SkipReason): SkipReason {
    const { line, type, uuid } = record;
    if (reason === "unknown-record") {
      const message = `a record of the type ${JSON.stringify(type.slice(0, 80))} is not known`;
      this.#setting.tally.report({ kind: "unknown-record", line, message });
    }
    if (uuid === undefined) return reason;
    // Where its parent is lost, the entry before it counts: that must be there.
    if (this.#tree.nodeOf(record.parentUuid) === undefined) this.#flush();
    this.#tree.name(record, this.#tree.parentOf(record));
    return reason;
  }

  /** Where a record goes; what a sub-agent says is set apart by an entry that says so. */
  #placeOf(record: ClaudeRecord): TreeNode {
    const parent = this.#tree.parentOf(record);
    if (!record.isSide || parent.isSide) return parent;
    const content = objectAt(record.value, "message")?.["content"];
    const task = this.#tasks.get(digestOf(textOf(content)));
    const facts = {
      agentId: stringAt(record.value, "agentId"),
      toolCallId: task?.callId,
      targetId: task?.node.firstId,
    };
    const mark = custom("branchlog.sidechain", facts);
    return this.#tree.write(mark, parent, record, { part: "sidechain" });
  }

  #noteCall(block: AssistantContent, node: TreeNode): void {
    if (block.type !== "toolCall") return;
    this.#toolNames.set(block.id, block.name);
    const task = block.arguments["prompt"];
    if (typeof task !== "string") return;
    const oldest = this.#tasks.keys().next().value;
    if (this.#tasks.size >= waitingMax && oldest !== undefined) this.#tasks.delete(oldest);
    this.#tasks.set(digestOf(task), { callId: block.id, node });
  }

  /** Writes what waits: another record comes. */
  #flush(): void {
    this.#answers.flush();
    const boundary = this.#boundary;
    if (boundary === undefined) return;
    this.#boundary = undefined;
    const { node, parent, record } = boundary;
    const draft = custom("claude.system", withoutKeys(record.value, envelopeKeys));
    this.#tree.fill(node, draft, parent, record, 0);
  }
}

function custom(customType: string, data: unknown): KnownDraft {
  return { type: "custom", customType, data };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
