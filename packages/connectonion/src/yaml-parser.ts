/**
 * Parses YAML into nodes. The only importer of the package `yaml`, whose parser is used for the
 * syntax alone: what a scalar means is decided by PyYAML's rules.
 */
import { Composer, isAlias, isMap, isScalar, isSeq, LineCounter, Parser, Scalar } from "yaml";
import type { Alias, Document, YAMLMap, YAMLSeq } from "yaml";
import { BranchlogError } from "@branchlog/core";
import { documentDepthMax } from "./limits.ts";
import { foldedText, oldBreak, readPlain } from "./plain-scalars.ts";
import { tooDeepAt } from "./yaml-depth.ts";
import type { Refuse, YamlList, YamlMap, YamlNode, YamlPair, YamlScalar } from "./yaml-nodes.ts";

const oldBreaks = new RegExp(oldBreak, "g");

/** A parsed text. */
export interface YamlTree {
  readonly text: string;
  /** Null for a text without content. */
  readonly root: YamlNode | null;
  /** `ERR_DOCUMENT_REFUSED` at an offset. */
  readonly refuse: Refuse;
}

/** The tags that say what a value without them would be, too. */
const plainTags: ReadonlySet<string> = new Set(
  ["null", "bool", "int", "float", "timestamp"].map((name) => `tag:yaml.org,2002:${name}`),
);
const textTags: ReadonlySet<string> = new Set(["!", "tag:yaml.org,2002:str"]);
const collectionTags: ReadonlySet<string> = new Set([
  "!",
  "tag:yaml.org,2002:map",
  "tag:yaml.org,2002:seq",
]);

/**
 * Parses one document.
 * @param path Named by errors.
 * @throws BranchlogError `ERR_DOCUMENT_DAMAGED` with line and column, `ERR_DOCUMENT_REFUSED`.
 */
export function parseYaml(text: string, path: string): YamlTree {
  const lineCounter = new LineCounter();
  const placeOf = (offset: number): { line: number; column: number } => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const damaged = (what: string, offset: number): BranchlogError => {
    const place = placeOf(offset);
    const message =
      `${path} is damaged, or only half written, at line ${place.line}, column ${place.column}: ` +
      `${what}. It was left as it is.`;
    return new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path, offset, ...place });
  };
  const refuse: Refuse = (what, offset) => {
    const place = placeOf(offset);
    const message =
      `${path} cannot be worked with: ${what} (line ${place.line}, column ${place.column}). It ` +
      "was left as it is.";
    return new BranchlogError("ERR_DOCUMENT_REFUSED", message, { path, offset, ...place });
  };
  const document = documentIn(text, lineCounter, { damaged, refuse });
  const [error] = document.errors;
  if (error !== undefined) throw damaged(lowered(error.message), error.pos[0]);
  if (document.contents === null) return { text, root: null, refuse };
  const root = new NodeReader(text, { damaged, refuse }).read(document.contents);
  return { text, root, refuse };
}

/** What PyYAML refuses wherever it stands; the parser takes some of it. */
const unprintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** The one document of a text. */
function documentIn(text: string, lineCounter: LineCounter, problems: Problems): Document {
  // The line breaks that only YAML 1.1 has are not left to the package.
  const source = text.replace(oldBreaks, "\n");
  const tokens = [...new Parser(lineCounter.addNewLine).parse(source)];
  // From here on lines are known.
  const found = unprintable.exec(text);
  if (found !== null) {
    const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw problems.damaged(`the character U+${code} stands there, which YAML lacks`, found.index);
  }
  for (const token of tokens) {
    const deep = tooDeepAt(token, documentDepthMax);
    if (deep === undefined) continue;
    throw problems.refuse(`it is nested more than ${documentDepthMax} levels deep`, deep);
  }
  // All scalars as text, all keys as they stand: the rest is not left to it, either.
  const composer = new Composer({ version: "1.1", schema: "failsafe", uniqueKeys: false });
  const [document, second] = composer.compose(tokens, true, source.length);
  if (document === undefined) throw problems.damaged("it holds no document", 0);
  if (second === undefined || document.errors.length > 0) return document;
  throw problems.damaged("a second document begins there", second.range[0]);
}

interface Problems {
  readonly damaged: Refuse;
  readonly refuse: Refuse;
}

/** Reads the package's nodes, in the order of the text. */
class NodeReader {
  readonly #text: string;
  readonly #problems: Problems;
  readonly #anchors = new Map<string, YamlNode>();

  constructor(text: string, problems: Problems) {
    this.#text = text;
    this.#problems = problems;
  }

  read(node: unknown): YamlNode {
    if (isAlias(node)) return this.#alias(node);
    const read = this.#unaliased(node);
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
    // Only now: a node that holds an alias to itself has no end.
    if (anchor !== undefined) this.#anchors.set(anchor, read);
    return read;
  }

  #unaliased(node: unknown): YamlNode {
    if (isScalar(node)) return this.#scalar(node);
    if (isMap(node)) return this.#map(node);
    if (isSeq(node)) return this.#list(node);
    throw this.#problems.refuse("something in it is no value", 0);
  }

  #alias(node: Alias): YamlNode {
    const [start, end] = rangeOf(node);
    const target = this.#anchors.get(node.source);
    if (target !== undefined) return { kind: "alias", start, end, target };
    throw this.#problems.damaged(`nothing before *${node.source} has that name`, start);
  }

  #scalar(node: Scalar): YamlScalar {
    const [start, end] = rangeOf(node);
    const isBlock = node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED;
    const isPlain = !isBlock && (node.type ?? Scalar.PLAIN) === Scalar.PLAIN;
    const style = isBlock ? "block" : isPlain ? "plain" : "quoted";
    const text = this.#textOf(node, isBlock, start, end);
    const { tag } = node;
    const place = { kind: "scalar", start, end, style } as const;
    const isText = tag === undefined ? !isPlain : textTags.has(tag);
    if (isText) return { ...place, value: text, isBeyondJson: false };
    if (tag !== undefined && !plainTags.has(tag)) throw this.#unknownTag(tag, start);
    const reading = readPlain(text);
    const value = reading.kind === "value" ? reading.value : text;
    return { ...place, value, isBeyondJson: reading.kind === "beyond-json" };
  }

  #textOf({ value, type }: Scalar, isBlock: boolean, start: number, end: number): string {
    const source = this.#text.slice(start, end);
    if (oldBreak.test(source)) {
      if (type === Scalar.PLAIN) return foldedText(source);
      if (type === Scalar.QUOTE_SINGLE)
        return foldedText(source.slice(1, -1)).replaceAll("''", "'");
      throw this.#problems.refuse(
        "a line break of YAML 1.1 stands in a block or escaped text",
        start,
      );
    }
    const text = typeof value === "string" ? value : "";
    // A last line without its newline has none in the value, either.
    const isCutOff = isBlock && end >= this.#text.length && !this.#text.endsWith("\n");
    return isCutOff && text.endsWith("\n") ? text.slice(0, -1) : text;
  }

  #map(node: YAMLMap): YamlMap {
    const [start, flowEnd] = rangeOf(node);
    this.#requireKnownTag(node.tag, start);
    const pairs = node.items.map((pair) => this.#pair(pair.key, pair.value));
    const isFlow = node.flow === true;
    const end = isFlow ? flowEnd : pairs.reduce((_, { key, value }) => lastOf(key, value), start);
    return { kind: "map", start, end, isFlow, pairs };
  }

  #pair(keyNode: unknown, valueNode: unknown): YamlPair {
    const key = this.read(keyNode);
    const known = key.kind === "alias" ? key.target : key;
    if (known.kind !== "scalar") throw this.#problems.refuse("a key is no text", key.start);
    if (known.style === "plain" && known.value === "<<") {
      throw this.#problems.refuse("merge keys (<<) are not read", key.start);
    }
    const place = { start: key.start, end: key.end };
    const value = valueNode === null ? missingValue(key.end) : this.read(valueNode);
    return { key: { ...known, ...place }, value };
  }

  #list(node: YAMLSeq): YamlList {
    const [start, flowEnd] = rangeOf(node);
    this.#requireKnownTag(node.tag, start);
    const items = node.items.map((item) => this.read(item));
    const isFlow = node.flow === true;
    const end = isFlow ? flowEnd : items.reduce((_, item) => item.end, start);
    return { kind: "list", start, end, isFlow, items };
  }

  #requireKnownTag(tag: string | undefined, offset: number): void {
    if (tag !== undefined && !collectionTags.has(tag)) throw this.#unknownTag(tag, offset);
  }

  #unknownTag(tag: string, offset: number): BranchlogError {
    return this.#problems.refuse(`the tag ${tag} is not read`, offset);
  }
}

function rangeOf({ range }: Scalar | Alias | YAMLMap | YAMLSeq): readonly [number, number] {
  return range === undefined || range === null ? [0, 0] : [range[0], range[1]];
}

/** Where a pair ends: a value that is not there stands somewhere behind its key. */
function lastOf(key: YamlScalar, value: YamlNode): number {
  const isEmpty = value.start === value.end;
  return isEmpty ? key.end : value.end;
}

function missingValue(offset: number): YamlScalar {
  const place = { start: offset, end: offset };
  return { kind: "scalar", ...place, value: null, style: "plain", isBeyondJson: false };
}

function lowered(message: string): string {
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}
