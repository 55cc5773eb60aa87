/**
 * `branchlog tree`: the branches of a session. The shape of the tree comes from the index; bodies
 * are read only for the lines that are shown.
 */
import { isBranchlogError } from "@branchlog/core";
import type { Envelope, Session, TreeView } from "@branchlog/core";
import { shownNowMs, writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, ReadingOptions } from "../command-io.ts";
import { openForReading } from "../opened-session.ts";
import { oneLine } from "../text/clean-text.ts";
import { gistOf } from "../text/entry-lines.ts";
import type { Gist } from "../text/entry-lines.ts";
import { isoTime } from "../text/quantities.ts";
import { treeRecord } from "../text/records.ts";
import { treeLineText } from "../text/tree-text.ts";
import type { TreeLine, TreePlace } from "../text/tree-text.ts";
import { outline, treeOrder, walkTree } from "../tree-outline.ts";
import type { OutlineOptions, OutlineRow, TreeOrder } from "../tree-outline.ts";

export interface TreeOptions extends ReadingOptions {
  readonly all: boolean;
  /** Undefined: all. */
  readonly depth: number | undefined;
}

/** A node of the tree in `--json`. */
export interface TreeNode {
  readonly id: string;
  readonly parentId: string | null;
  readonly type: string;
  readonly role: string | null;
  readonly label: string | null;
  /** ISO 8601; null if unreadable. */
  readonly timestamp: string | null;
  readonly children: readonly string[];
}

export async function treeCommand(options: TreeOptions, io: CommandIo): Promise<CommandResult> {
  const { session } = await openForReading(options.file, io, options);
  if (!options.json) {
    const { columns, style, isTerminal } = io.out;
    const shown = { ...options, columns, style, shortIds: true, nowMs: shownNowMs(io) };
    const lines = isTerminal ? treeLines(session, shown) : treeRecords(session, options);
    for await (const line of lines) {
      io.signal.throwIfAborted();
      await io.out.write(line);
    }
    return 0;
  }
  for (const node of treeNodes(session)) {
    io.signal.throwIfAborted();
    await writeJsonLine(io.out, node);
  }
  return 0;
}

/** In preorder, lazily. */
export function* treeNodes(session: Session): Generator<TreeNode> {
  const view = session.tree();
  const { labels } = session;
  for (const { id, children } of walkTree(view)) {
    const node = view.node(id);
    if (node === undefined) continue;
    const { parentId, type, role, time } = node;
    const label = labels.get(id)?.label ?? null;
    yield { id, parentId, type, role: role ?? null, label, timestamp: isoTime(time), children };
  }
}

/** Every entry, as deep as `depth` says, in preorder. */
export async function* treeRecords(
  session: Session,
  { depth }: Pick<TreeOptions, "depth">,
): AsyncGenerator<string> {
  const view = session.tree();
  const order = treeOrder(view);
  const record = async (row: OutlineRow): Promise<string> => {
    const node = row.kind === "node" ? view.node(order.ids[row.node] ?? "") : undefined;
    if (node === undefined) return "";
    const { id, parentId, type, role, time } = node;
    const text = (await gistAt(session, id, Infinity))?.text;
    const label = session.label(id)?.label;
    const isLeaf = id === session.leaf;
    return treeRecord({ id, time: isoTime(time), type, role, parentId, label, isLeaf, text });
  };
  const rows = outline(order, outlineOptions(session, order, { all: true, depth }));
  for (const window of windowsOf(rows)) yield* await Promise.all(window.map((row) => record(row)));
}

export interface TreeLinesOptions extends Pick<TreeOptions, "all" | "depth">, TreePlace {
  /** Whether ids are shown by their beginnings, where these tell them apart. Default false. */
  readonly shortIds?: boolean;
}

/** Lazily; each reads the body of the entry that it shows. */
export async function* treeLines(
  session: Session,
  options: TreeLinesOptions,
): AsyncGenerator<string> {
  const view = session.tree();
  const order = treeOrder(view);
  const lastMessages = lastMessagesOf(order);
  const shownId = options.shortIds === true ? shortIdOf(order.ids) : undefined;
  const text = async (row: OutlineRow): Promise<string> => {
    if (row.kind !== "node") return treeLineText(row, undefined, options);
    const node = view.node(order.ids[row.node] ?? "");
    const saidLast = row.branches === 0 ? order.ids[lastMessages[row.node] ?? -1] : undefined;
    if (node === undefined) return treeLineText(row, undefined, options);
    const isRoot = order.parents[row.node] === -1;
    const problem = isRoot ? rootProblem(view, node) : undefined;
    const found = await treeLine(session, node, saidLast);
    const line = { ...found, id: shownId?.(found.id) ?? found.id, problem };
    return `${isRoot && row.node > 0 ? "\n" : ""}${treeLineText(row, line, options)}`;
  };
  for (const rows of windowsOf(outline(order, outlineOptions(session, order, options)))) {
    yield* await Promise.all(rows.map((row) => text(row)));
  }
}

const shortIdUnits = 8;

/** The first characters of an id, or all of it if another starts with it. */
function shortIdOf(ids: readonly string[]): (id: string) => string {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const id of ids) {
    const short = id.slice(0, shortIdUnits);
    (seen.has(short) ? repeated : seen).add(short);
  }
  return (id) => {
    const short = id.slice(0, shortIdUnits);
    return repeated.has(short) ? id : short;
  };
}

const gistUnitsMax = 120;
/** Lines whose bodies are read at once: reads overlap, and few bodies are held. */
const windowRows = 16;

function* windowsOf(rows: Iterable<OutlineRow>): Generator<readonly OutlineRow[]> {
  let window: OutlineRow[] = [];
  for (const row of rows) {
    window.push(row);
    if (window.length < windowRows) continue;
    yield window;
    window = [];
  }
  yield window;
}

async function treeLine(
  session: Session,
  { id, time, type }: Envelope,
  lastMessageId: string | undefined,
): Promise<Omit<TreeLine, "problem">> {
  const gist = (await gistAt(session, id, gistUnitsMax)) ?? {
    kind: type,
    text: "(cannot be read)",
  };
  const isOther = lastMessageId !== undefined && lastMessageId !== id;
  const lastMessage = isOther ? await gistAt(session, lastMessageId, gistUnitsMax) : undefined;
  const label = session.label(id)?.label;
  return { ...gist, id, time, label, isLeaf: id === session.leaf, lastMessage };
}

function rootProblem(view: TreeView, { parentId }: Envelope): string | undefined {
  if (parentId === null || parentId === "") return undefined;
  const isThere = view.node(parentId) !== undefined;
  return isThere ? "its own ancestor" : `parent ${oneLine(parentId, 40)} is missing`;
}

/** Undefined for an entry that is damaged, or too large. */
async function gistAt(session: Session, id: string, unitsMax: number): Promise<Gist | undefined> {
  try {
    const entry = await session.entry(id);
    return entry === undefined ? undefined : gistOf(entry, unitsMax);
  } catch (error) {
    if (isBranchlogError(error, "ERR_ENTRY_TOO_LARGE")) return undefined;
    throw error;
  }
}

function outlineOptions(
  session: Session,
  order: TreeOrder,
  { all, depth }: Pick<TreeOptions, "all" | "depth">,
): OutlineOptions {
  const { leaf, labels } = session;
  const isNotable = (node: number): boolean => {
    return all || notableTypes.has(order.types[node] ?? "") || labels.has(order.ids[node] ?? "");
  };
  const levelMax = depth ?? Number.POSITIVE_INFINITY;
  return { isNotable, leaf: leaf === null ? -1 : order.ids.indexOf(leaf), levelMax };
}

const notableTypes: ReadonlySet<string> = new Set(["compaction", "branch_summary"]);

/** For each node the last message on the path to it, itself included; -1 if absent. */
function lastMessagesOf({ types, parents }: TreeOrder): Int32Array {
  const last = new Int32Array(types.length).fill(-1);
  for (const [node, type] of types.entries()) {
    last[node] = type === "message" ? node : (last[parents[node] ?? -1] ?? -1);
  }
  return last;
}
