/** The tree of a Claude Code transcript: which entry was made of which record. */
import type { KnownDraft, Usage } from "@branchlog/core/entries";
import { stringAt, timeAt } from "@branchlog/core/internal";
import type { MappingSetting, SourceRecord } from "./source-mapping.ts";

export interface ClaudeRecord extends SourceRecord {
  readonly type: string;
  readonly uuid: string | undefined;
  readonly parentUuid: string | undefined;
  readonly isSide: boolean;
  readonly time: string;
}

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

export interface AnswerGroup {
  readonly id: string | undefined;
  tail: TreeNode;
  /** Calls without a result, of a recent answer. */
  open: Set<string> | undefined;
  counted: Usage;
}

export interface TreeNode {
  /** The last entry of the record, the parent of its children; empty until it is written. */
  id: string;
  firstId: string;
  readonly model: string;
  readonly isSide: boolean;
  group: AnswerGroup | undefined;
  /** An entry after it that is not a record of the tree. */
  next: TreeNode | undefined;
}

export interface NodeTraits {
  readonly part: number | string;
  readonly model?: string;
  readonly isSide?: boolean;
  readonly group?: AnswerGroup | undefined;
}

export class ClaudeTree {
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

  get tail(): TreeNode {
    return settled(this.#mainTail);
  }

  has(uuid: string | undefined): boolean {
    return uuid !== undefined && this.#nodes.has(uuid);
  }

  nodeOf(uuid: string | undefined): TreeNode | undefined {
    return uuid === undefined ? undefined : this.#nodes.get(uuid);
  }

  name({ uuid }: ClaudeRecord, node: TreeNode): void {
    if (uuid !== undefined) this.#nodes.set(uuid, node);
  }

  /** A record whose parent is missing, or that is not in the tree, follows the one before it. */
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

  write(draft: KnownDraft, parent: TreeNode, record: ClaudeRecord, traits: NodeTraits): TreeNode {
    const { part, model = parent.model, isSide = record.isSide, group } = traits;
    const node = emptyNode(model, isSide);
    node.group = group;
    this.fill(node, draft, parent, record, part);
    return node;
  }

  /** For a node that may already be referenced. */
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

  chain(draft: KnownDraft, record: ClaudeRecord, part: number | string): void {
    const parent = this.tail;
    const { group } = parent;
    parent.next = this.write(draft, parent, record, { part, isSide: false, group });
  }
}

function seedOf({ uuid, line }: ClaudeRecord, part: number | string): string {
  return `${uuid === undefined ? `line:${line}` : `uuid:${uuid}`}#${part}`;
}

export function emptyNode(model: string, isSide: boolean): TreeNode {
  return { id: "", firstId: "", model, isSide, group: undefined, next: undefined };
}

export function settled(node: TreeNode): TreeNode {
  let last = node;
  while (last.next !== undefined) last = last.next;
  // Repeated titles must not make the next walk longer.
  for (let at = node; at.next !== undefined && at !== last;) {
    const { next } = at;
    at.next = last;
    at = next;
  }
  return last;
}
