/**
 * How a document is laid out, as far as that can be seen: what is put in looks like what is there.
 * Pure.
 */
import { layouts } from "./block-text.ts";
import type { Layout } from "./block-text.ts";
import type { ReadDocument } from "./read-document.ts";
import { indentOf, isAfterEmptyLine } from "./text-places.ts";
import { followed, pairOf } from "./yaml-nodes.ts";
import type { YamlList, YamlMap, YamlNode, YamlScalar } from "./yaml-nodes.ts";

/** Where the next item of a block goes. */
export interface BlockPlace {
  /** The column of its dash, or of its key. */
  readonly column: number;
  /** Whether an empty line goes before it. */
  readonly isApart: boolean;
}

/** See the file comment. */
export interface DocumentLayout {
  readonly turns: BlockPlace;
  readonly messages: BlockPlace;
  /** Whether the numbers of turns are written as texts: Python does not sort them among numbers. */
  readonly hasQuotedKeys: boolean;
  readonly style: Layout;
  /** The layout of the lists of messages. */
  readonly messageStyle: Layout;
}

/**
 * Looks at a document.
 * @throws BranchlogError `ERR_DOCUMENT_REFUSED` if the root, or the last item of a block, does not
 * begin its line.
 */
export function documentLayout(read: ReadDocument): DocumentLayout {
  const { root, tree } = read;
  if (root.isFlow || indentOf(tree.text, root.start) !== 0) {
    throw tree.refuse("its keys do not stand at the beginning of their lines", root.start);
  }
  const turns = blockOf(root, "turns", "list");
  const messages = blockOf(root, "messages", "map");
  const dash = turns === undefined ? undefined : lastDash(read, turns);
  const isDumped = dash === undefined ? !isIdeal(read) : dash === 0;
  const style = isDumped ? layouts.dumped : layouts.ideal;
  const column = dash ?? style.listIndent;
  const keys = messages?.pairs.map(({ key }) => key) ?? [];
  const key = keys.at(-1);
  const keyColumn = key === undefined ? 2 : columnOf(read, key);
  const listIndent = listIndentOf(read, messages, keyColumn) ?? style.listIndent;
  const isAiry = areMessagesApart(read, messages) ?? style.isAiry;
  return {
    turns: {
      column,
      isApart: areApart(read, turns?.items ?? []) ?? (turns !== undefined && style.isAiry),
    },
    messages: {
      column: keyColumn,
      isApart: areApart(read, keys) ?? (keys.length > 0 && style.isAiry),
    },
    hasQuotedKeys: lastTurnKey(root)?.style === "quoted",
    style: { ...style, listIndent },
    messageStyle: { listIndent, isAiry },
  };
}

function blockOf(root: YamlMap, key: string, kind: "list"): YamlList | undefined;
function blockOf(root: YamlMap, key: string, kind: "map"): YamlMap | undefined;
function blockOf(root: YamlMap, key: string, kind: "list" | "map"): YamlNode | undefined {
  const value = pairOf(root, key)?.value;
  const block = value === undefined ? undefined : followed(value);
  if (block?.kind !== kind || block.isFlow) return undefined;
  const count = block.kind === "list" ? block.items.length : block.pairs.length;
  return count > 0 ? block : undefined;
}

/** The last number of a turn among the messages, in block or flow style. */
function lastTurnKey(root: YamlMap): YamlScalar | undefined {
  const value = pairOf(root, "messages")?.value;
  const messages = value === undefined ? undefined : followed(value);
  return messages?.kind === "map" ? messages.pairs.at(-1)?.key : undefined;
}

/** The column of the dash before the last item. */
function lastDash(read: ReadDocument, { items }: YamlList): number {
  const { text, refuse } = read.tree;
  const start = items.at(-1)?.start ?? 0;
  const dash = text.lastIndexOf("-", start - 1);
  const column = dash < 0 ? undefined : indentOf(text, dash);
  const isOwn = /^-\s+$/.test(text.slice(dash, start));
  if (column === undefined || !isOwn) throw refuse("a dash does not begin its line", start);
  return column;
}

function columnOf({ tree: { text, refuse } }: ReadDocument, key: YamlNode): number {
  const column = indentOf(text, key.start);
  if (column === undefined) throw refuse("a key does not begin its line", key.start);
  return column;
}

/** Whether the last of these stands apart from the one before; undefined if there is none. */
function areApart({ tree }: ReadDocument, nodes: readonly YamlNode[]): boolean | undefined {
  const last = nodes.at(-1);
  return last === undefined || nodes.length < 2
    ? undefined
    : isAfterEmptyLine(tree.text, last.start);
}

/** Columns from the last turn number to the dashes below it. */
function listIndentOf(
  { tree: { text } }: ReadDocument,
  messages: YamlMap | undefined,
  keyColumn: number,
): number | undefined {
  for (const { value } of messages?.pairs.toReversed() ?? []) {
    if (value.kind !== "list" || value.isFlow || value.items.length === 0) continue;
    const start = value.items.at(-1)?.start ?? 0;
    const dash = text.lastIndexOf("-", start - 1);
    const column = dash < 0 ? undefined : indentOf(text, dash);
    return column === undefined ? undefined : Math.max(0, column - keyColumn);
  }
  return undefined;
}

/** Whether empty lines stand between messages, as far as any turn has two of them. */
function areMessagesApart(read: ReadDocument, messages: YamlMap | undefined): boolean | undefined {
  for (const { value } of messages?.pairs.toReversed() ?? []) {
    if (value.kind !== "list" || value.isFlow) continue;
    const are = areApart(read, value.items);
    if (are !== undefined) return are;
  }
  return undefined;
}

/** Of a document without turns, whether it is written as this library does it. */
function isIdeal({ tree: { text } }: ReadDocument): boolean {
  return /^# =+ .+ =+\s*$/m.test(text);
}
