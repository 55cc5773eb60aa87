/** Reads YAML as PyYAML's `safe_load` does; values without a JSON form, as times, become text. */
import { Composer, isAlias, isScalar, isSeq, Lexer, LineCounter, Parser, Scalar } from "yaml";
import type { CST, Document, ParsedNode, YAMLMap, YAMLSeq } from "yaml";
import type { JsonValue } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import { aliasedNodesMax, documentBytesMax, documentDepthMax } from "./limits.ts";
import { foldedText, oldBreak, readPlain } from "./plain-scalars.ts";

export { isMap, isPair, isScalar, isSeq, Scalar } from "yaml";
export type { Pair, ParsedNode, YAMLMap, YAMLSeq } from "yaml";

export type ErrorAt = (what: string, offset: number) => BranchlogError;

/** Nodes have offsets in the text, and their tokens. */
export interface YamlText {
  readonly text: string;
  /** Null for a text without content. */
  readonly root: ParsedNode | null;
  /**
   * In mappings, integer keys come first, as in JavaScript; of a repeated key the last value
   * counts.
   */
  readonly value: JsonValue;
  /** Keys repeated in their mapping, in the order of the text. */
  readonly repeatedKeys: readonly string[];
  /** How many values without quotes have no JSON form. */
  readonly beyondJsonCount: number;
  /** `ERR_DOCUMENT_REFUSED` at an offset. */
  readonly refuse: ErrorAt;
}

/**
 * @param path Named by errors.
 * @throws BranchlogError `ERR_DOCUMENT_DAMAGED` with line and column, `ERR_DOCUMENT_REFUSED`.
 */
export function readYaml(text: string, path: string): YamlText {
  const lines = new LineCounter();
  const errorAt = (isDamage: boolean, what: string, offset: number): BranchlogError => {
    const pos = lines.linePos(offset);
    const [line, column] = [Math.max(1, pos.line), Math.max(1, pos.col)];
    const place = `line ${line}, column ${column}`;
    const problem = isDamage
      ? `is damaged, or partly written, at ${place}: ${what}`
      : `cannot be worked with: ${what} (${place})`;
    const code = isDamage ? "ERR_DOCUMENT_DAMAGED" : "ERR_DOCUMENT_REFUSED";
    const message = `${path} ${problem}. It was not changed.`;
    return new BranchlogError(code, message, { path, offset, line, column });
  };
  const damaged: ErrorAt = (what, offset) => errorAt(true, what, offset);
  const refuse: ErrorAt = (what, offset) => errorAt(false, what, offset);
  const source = { text, damaged, refuse };
  const root = parsedDocument(source, lines).contents;
  const reader = new ValueReader(source);
  const value = root === null ? null : reader.read(root);
  const { repeatedKeys, beyondJsonCount } = reader;
  return { text, root, value, repeatedKeys, beyondJsonCount, refuse };
}

interface Source {
  readonly text: string;
  readonly damaged: ErrorAt;
  readonly refuse: ErrorAt;
}

export function nodeAt(map: YAMLMap.Parsed, key: string): ParsedNode | null | undefined {
  return map.items.findLast((pair) => isScalar(pair.key) && pair.key.value === key)?.value;
}

/** PyYAML refuses these anywhere; the parser accepts some. */
const unprintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

function parsedDocument({ text, damaged, refuse }: Source, lines: LineCounter): Document.Parsed {
  // The package does not know the line breaks of YAML 1.1.
  const source = text.replaceAll(oldBreak, "\n");
  const tooDeep = (offset: number): BranchlogError =>
    refuse(`it is nested more than ${documentDepthMax} levels deep`, offset);
  const tokens = parsedTokens(source, lines, tooDeep);
  const found = unprintable.exec(text);
  if (found !== null) {
    const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw damaged(`the character U+${code} is there, which YAML lacks`, found.index);
  }
  const deep = tokens.map(tooDeepAt).find((offset) => offset !== undefined);
  if (deep !== undefined) throw tooDeep(deep);
  // Scalars stay text, and keys as written: PyYAML's rules decide on them.
  const composer = new Composer({
    version: "1.1",
    schema: "failsafe",
    uniqueKeys: false,
    keepSourceTokens: true,
  });
  const [document, second] = composer.compose(tokens, true, source.length);
  if (document === undefined) throw damaged("it holds no document", 0);
  const [error] = document.errors;
  if (error !== undefined) {
    throw damaged(error.message.charAt(0).toLowerCase() + error.message.slice(1), error.pos[0]);
  }
  if (second !== undefined) throw damaged("a second document begins there", second.range[0]);
  return document;
}

/** Stops at the first level too many, since the parser closes levels by recursion. */
function parsedTokens(
  source: string,
  lines: LineCounter,
  tooDeep: (offset: number) => BranchlogError,
): CST.Token[] {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(source)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    const open = parser.stack[documentDepthMax + 2];
    if (open !== undefined) throw tooDeep(open.offset);
  }
  return [...tokens, ...parser.end()];
}

interface NestedToken {
  readonly offset: number;
  readonly value?: NestedToken | undefined;
  readonly items?: readonly {
    readonly key?: NestedToken | null | undefined;
    readonly value?: NestedToken | undefined;
  }[];
}

/** Where a token is nested deeper than recursive code can handle. Iterative. */
function tooDeepAt(token: NestedToken): number | undefined {
  const open = [{ token, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, items = [], offset } = next.token;
    const depth = next.token.items === undefined ? next.depth : next.depth + 1;
    if (depth > documentDepthMax) return offset;
    const inner = [value, ...items.map((item) => item.key), ...items.map((item) => item.value)];
    for (const at of inner) if (at) open.push({ token: at, depth });
  }
  return undefined;
}

const tagsOf = (...names: string[]): ReadonlySet<string> =>
  new Set(["!", ...names.map((name) => `tag:yaml.org,2002:${name}`)]);
/** Tags that agree with PyYAML's own choice, and those that force a text. */
const scalarTags = tagsOf("str", "null", "bool", "int", "float", "timestamp");
const textTags = tagsOf("str");
const collectionTags = tagsOf("map", "seq");

interface Anchored {
  readonly value: JsonValue;
  readonly nodes: number;
  readonly units: number;
}

class ValueReader {
  readonly repeatedKeys: string[] = [];
  beyondJsonCount = 0;
  readonly #source: Source;
  readonly #anchors = new Map<string, Anchored>();
  /** Values and units of text so far, including aliases. */
  #nodes = 0;
  #units = 0;
  #aliasedNodes = 0;
  #aliasedUnits = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  read(node: ParsedNode): JsonValue {
    if (isAlias(node)) return this.#aliased(node.source, node.range[0]);
    const { anchor, tag } = node;
    const tags = isScalar(node) ? scalarTags : collectionTags;
    if (tag !== undefined && !tags.has(tag)) {
      throw this.#source.refuse(`the tag ${tag} is not read`, node.range[0]);
    }
    const [nodes, units] = [this.#nodes, this.#units];
    this.#nodes += 1;
    const value = isScalar(node) ? this.#scalar(node) : this.#collection(node);
    // Set last: a node with an alias to itself would be infinite.
    if (anchor !== undefined) {
      const size = { nodes: this.#nodes - nodes, units: this.#units - units };
      this.#anchors.set(anchor, { value, ...size });
    }
    return value;
  }

  #aliased(name: string, offset: number): JsonValue {
    const target = this.#anchors.get(name);
    if (target === undefined) {
      throw this.#source.damaged(`nothing before *${name} has that name`, offset);
    }
    this.#nodes += target.nodes;
    this.#units += target.units;
    this.#aliasedNodes += target.nodes;
    this.#aliasedUnits += target.units;
    if (this.#aliasedUnits > documentBytesMax) {
      throw this.#source.refuse("its aliases stand for more text than a document may have", 0);
    }
    if (this.#aliasedNodes > aliasedNodesMax) {
      throw this.#source.refuse(`its aliases stand for more than ${aliasedNodesMax} values`, 0);
    }
    return target.value;
  }

  #collection(node: YAMLMap.Parsed | YAMLSeq.Parsed): JsonValue {
    if (isSeq(node)) return node.items.map((item) => this.read(item));
    const keys = new Set<string>();
    const entries = node.items.map(({ key, value }): [string, JsonValue] => {
      const text = this.#key(key);
      if (keys.has(text)) this.repeatedKeys.push(text);
      keys.add(text);
      return [text, value === null ? null : this.read(value)];
    });
    // A key may be `__proto__`, which an assignment would not add.
    return Object.fromEntries(entries);
  }

  /** A key as JSON text: numbers, booleans and null as Python prints them there. */
  #key(node: ParsedNode): string {
    const { beyondJsonCount } = this;
    const value = this.read(node);
    this.beyondJsonCount = beyondJsonCount;
    if (typeof value === "object" && value !== null) {
      throw this.#source.refuse("a key is not text", node.range[0]);
    }
    if (value === "<<" && isScalar(node) && node.type === Scalar.PLAIN) {
      throw this.#source.refuse("merge keys (<<) are not read", node.range[0]);
    }
    return String(value);
  }

  #scalar(node: Scalar.Parsed): JsonValue {
    const text = this.#textOf(node);
    this.#units += text.length;
    const isText = node.tag === undefined ? node.type !== Scalar.PLAIN : textTags.has(node.tag);
    if (isText) return text;
    const reading = readPlain(text);
    if (reading.kind === "value") return reading.value;
    if (reading.kind === "beyond-json") this.beyondJsonCount += 1;
    return text;
  }

  #textOf({ value, type, range: [start, end] }: Scalar.Parsed): string {
    const whole = this.#source.text;
    const source = whole.slice(start, end);
    if (source.search(oldBreak) >= 0) {
      if (type === Scalar.PLAIN) return foldedText(source);
      if (type === Scalar.QUOTE_SINGLE) {
        return foldedText(source.slice(1, -1)).replaceAll("''", "'");
      }
      const what = "a line break of YAML 1.1 is in a block or escaped text";
      throw this.#source.refuse(what, start);
    }
    const text = typeof value === "string" ? value : "";
    // A last line without a newline has none in the value.
    const isBlock = type === Scalar.BLOCK_LITERAL || type === Scalar.BLOCK_FOLDED;
    const isCutOff = isBlock && end >= whole.length && !whole.endsWith("\n");
    return isCutOff && text.endsWith("\n") ? text.slice(0, -1) : text;
  }
}
