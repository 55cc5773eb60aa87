/**
 * The tree of a Claude Code transcript while it becomes entries: which entry is made of which
 * record, and where the next one goes. Parents are the nearest records that were kept.
 */
import type { KnownDraft, Usage } from "@branchlog/core/entries";
import { stringAt, timeAt } from "@branchlog/core/internal";
import type { MappingSetting, SourceRecord } from "./source-mapping.ts";

/** A record with its envelope read. */
export interface ClaudeRecord extends SourceRecord {
  readonly type: string;
  /** Names the record in the tree; undefined for records that are not in it. */
  readonly uuid: string | undefined;
  readonly parentUuid: string | undefined;
  /** Whether it is of a sub-agent. */
  readonly isSide: boolean;
  /** Its time, or that of the record before it. */
  readonly time: string;
}

/** Reads the envelope; `timeBefore` is the time of the record before. */
export function claudeRecord(record: SourceRecord, timeBefore: string): ClaudeRecord {
  const { value } = record;
  return {
    ...record,
    type: stringAt(value, "type") ?? "",
    uuid: stringAt(value, "uuid"),
    parentUuid: stringAt(value, "parentUuid"),
    isSide: value["isSidechain"] === true,
    time: timeAt(value, "timestamp") ?? timeBefore,
  };
}

/** The messages of one answer of the model, with the results of its tool calls. */
export interface AnswerGroup {
  /** `message.id`. */
  readonly id: string | undefined;
  /** The last node of the group. */
  tail: TreeNode;
  /** Calls without a result, of an answer that is not long ago. */
  open: Set<string> | undefined;
  /** What of its usage is in the log. */
  counted: Usage;
}

/** A record of the source as a place in the log. */
export interface TreeNode {
  /** The last entry of the record, the parent of its children; empty until it is written. */
  id: string;
  /** Its first one. */
  firstId: string;
  /** The model in force there; empty if none is. */
  readonly model: string;
  readonly isSide: boolean;
  group: AnswerGroup | undefined;
  /** What was put after it without being a record of the tree. */
  next: TreeNode | undefined;
}

/** What a node has besides its place. */
export interface NodeTraits {
  readonly part: number | string;
  readonly model?: string;
  readonly isSide?: boolean;
  readonly group?: AnswerGroup | undefined;
}

/** See the file comment. */
export class ClaudeTree {
  /** The first entry of the log. */
  readonly root: TreeNode;
  readonly #setting: MappingSetting;
  readonly #nodes = new Map<string, TreeNode>();
  #mainTail: TreeNode;
  #sideTail: TreeNode;

  constructor(setting: MappingSetting) {
    this.#setting = setting;
    this.root = emptyNode("", false);
    this.root.id = setting.rootId;
    this.#mainTail = this.root;
    this.#sideTail = this.root;
  }

  /** The last node of the conversation itself. */
  get tail(): TreeNode {
    return settled(this.#mainTail);
  }

  /** Whether a record with that id was seen. */
  has(uuid: string | undefined): boolean {
    return uuid !== undefined && this.#nodes.has(uuid);
  }

  /** The node of a record; undefined if none was seen. */
  nodeOf(uuid: string | undefined): TreeNode | undefined {
    return uuid === undefined ? undefined : this.#nodes.get(uuid);
  }

  /** Makes a node that of a record. */
  name({ uuid }: ClaudeRecord, node: TreeNode): void {
    if (uuid !== undefined) this.#nodes.set(uuid, node);
  }

  /**
   * The parent node of a record. A record whose parent is lost is attached to the last one before
   * it, as a rule the one that was meant; one that is not in the tree, too.
   */
  parentOf(record: ClaudeRecord): TreeNode {
    const { uuid, parentUuid, line } = record;
    const named = this.nodeOf(parentUuid);
    if (named !== undefined) return settled(named);
    const before = this.before(record);
    if (parentUuid === undefined) return uuid === undefined ? before : settled(this.root);
    const message = `the parent ${parentUuid} is not in the source before it`;
    this.#setting.tally.report({ kind: "missing-parent", line, message });
    return before;
  }

  /** The last node before a record, of the conversation or of its sub-agents. */
  before({ isSide }: ClaudeRecord): TreeNode {
    return settled(isSide ? this.#sideTail : this.#mainTail);
  }

  /** Writes an entry of a record. */
  write(draft: KnownDraft, parent: TreeNode, record: ClaudeRecord, traits: NodeTraits): TreeNode {
    const { part, model = parent.model, isSide = record.isSide, group } = traits;
    const node = emptyNode(model, isSide);
    node.group = group;
    this.fill(node, draft, parent, record, part);
    return node;
  }

  /** Writes an entry for a node that others may refer to already. */
  fill(
    node: TreeNode,
    draft: KnownDraft,
    parent: TreeNode,
    record: ClaudeRecord,
    part: number | string,
  ): void {
    const { time } = record;
    const place = { parentId: settled(parent).id, time, seed: seedOf(record, part) };
    node.id = this.#setting.log.add(draft, place);
    if (node.firstId === "") node.firstId = node.id;
    if (node.isSide) this.#sideTail = node;
    else this.#mainTail = node;
  }

  /** Writes the entries of a record one below the other; the last one is its node's. */
  fillAll(
    node: TreeNode,
    drafts: readonly KnownDraft[],
    parent: TreeNode,
    record: ClaudeRecord,
  ): void {
    let above = parent;
    for (const [part, draft] of drafts.slice(0, -1).entries()) {
      above = this.write(draft, above, record, { part, group: node.group });
      if (node.firstId === "") node.firstId = above.id;
    }
    const last = drafts.at(-1);
    if (last !== undefined) this.fill(node, last, above, record, drafts.length - 1);
  }

  /** Writes an entry after the conversation; what comes next is its child. */
  chain(draft: KnownDraft, record: ClaudeRecord, part: number | string): void {
    const parent = this.tail;
    const { group } = parent;
    parent.next = this.write(draft, parent, record, { part, isSide: false, group });
  }
}

/** What the id of an entry is made of. */
function seedOf({ uuid, line }: ClaudeRecord, part: number | string): string {
  return `${uuid === undefined ? `line:${line}` : `uuid:${uuid}`}#${part}`;
}

/** A node without an entry. */
export function emptyNode(model: string, isSide: boolean): TreeNode {
  return { id: "", firstId: "", model, isSide, group: undefined, next: undefined };
}

/** The node that the children of a node are attached to. */
export function settled(node: TreeNode): TreeNode {
  let last = node;
  while (last.next !== undefined) last = last.next;
  // Titles that are set again and again must not make the next walk longer.
  for (let at = node; at.next !== undefined && at !== last;) {
    const { next } = at;
    at.next = last;
    at = next;
  }
  return last;
}
