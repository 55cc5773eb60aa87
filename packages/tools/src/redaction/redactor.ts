/**
 * Replaces secrets in texts and in JSON. The first pass over a session learns its secrets, and its
 * output is discarded; the second one replaces them, also without their names, and in other
 * encodings. Data that cannot be searched is an error, never passed on. Pure.
 */
import { BranchlogError } from "@branchlog/core";
import { privateKeys } from "./private-keys.ts";
import { redactedUnitsMax } from "../limits.ts";
import { jsonTokens } from "./json-tokens.ts";
import type { JsonToken } from "./json-tokens.ts";
import { imageKind } from "./key-forms.ts";
import type { FoundSecret } from "./key-forms.ts";
import { isSecretName, namedKind } from "./named-values.ts";
import { KnownForms } from "./secret-forms.ts";
import { findSecrets } from "./secret-rules.ts";
import { isPlaceholder } from "./secret-values.ts";

export interface RedactionReport {
  /** How many secrets differ from each other. */
  readonly secrets: number;
  /** How often a secret was replaced, by kind. */
  readonly replaced: Readonly<Record<string, number>>;
  /** The header and entries in which something was replaced; a document, searched whole, is 1. */
  readonly entries: number;
  /** Images and other media: they cannot be searched, so they are omitted. */
  readonly images: number;
}

/** An object whose members are being passed on. */
interface OpenObject {
  readonly start: number;
  /** Counted before it. */
  readonly images: number;
  /** The member that it is in, by name. */
  readonly key: string;
  /** Below a member with a secret's name, each string is secret. */
  readonly isSecret: boolean;
  isMedia: boolean;
}

const mediaMarker = `[redacted: ${imageKind}]`;

const mediaNote = JSON.stringify({ type: "text", text: mediaMarker });

const mediaTypes = /^(?:image|image_url|input_image|document|audio|input_audio)$/;

const textTypes = /^text\/|json|xml/;

const mediaKeys = /^(?:mimeType|mime_type|media_type)$/;

/** In schemas of arguments that are secrets. They are searched anyway. */
const describingKeys = /^(?:description|title)$/;

/** Without their values, a log has no entries. */
const structuralKeys = /^(?:type|role|id|parentId|timestamp)$/;

/** A marker, and the text before it in a header. */
const onlyMarker = /^(?:(?:basic|bearer|token) )?\[redacted: [^\]]+\]$/i;

export class Redactor {
  readonly #path: string;
  readonly #find: typeof findSecrets;
  /** By secret. */
  readonly #markers = new Map<string, string>();
  readonly #numbers = new Map<string, number>();
  readonly #used = new Set<string>();
  #forms = new KnownForms(new Map());
  #replaced: Record<string, number> = {};
  #entries = 0;

  constructor(path: string, find: typeof findSecrets = findSecrets) {
    this.#path = path;
    this.#find = find;
  }

  /** Ends the first pass. */
  endLearning(): void {
    this.#forms = new KnownForms(this.#markers);
    this.#replaced = {};
    this.#used.clear();
    this.#entries = 0;
  }

  report(): RedactionReport {
    const { [imageKind]: images = 0, ...replaced } = this.#replaced;
    return { secrets: this.#used.size, replaced, entries: this.#entries, images };
  }

  text(text: string, id?: string): string {
    return this.#guarded(id, () => this.#requireNone(this.#clean(text)));
  }

  /** @param line A JSON object. Equal in shape afterwards; unchanged without secrets. */
  json(line: string): string {
    let id: string | undefined;
    return this.#guarded(undefined, () => {
      id = idIn(line);
      return this.#guarded(id, () => {
        const clean = this.#searchedAgain(this.#members(line));
        if (clean !== line) this.#entries += 1;
        return this.#requireNone(clean);
      });
    });
  }

  /** As {@link Redactor.json}, of an object that is passed on twice. */
  jsonAgain(line: string): string {
    const [replaced, entries] = [{ ...this.#replaced }, this.#entries];
    const clean = this.json(line);
    [this.#replaced, this.#entries] = [replaced, entries];
    return clean;
  }

  /** @throws BranchlogError `ERR_REDACTION_FAILED`. */
  fail(reason: string, id?: string): never {
    const what = id === undefined ? "A part" : `Entry ${id}`;
    const message =
      `${what} of ${this.#path} cannot be redacted: ${reason}. Nothing was written. Export a ` +
      "path that ends before it, or a repaired copy.";
    const facts = { path: this.#path, ...(id === undefined ? {} : { id }) };
    throw new BranchlogError("ERR_REDACTION_FAILED", message, facts);
  }

  /** Errors of a parser or pattern are not passed on: they quote the text. */
  #guarded<T>(id: string | undefined, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof BranchlogError) throw error;
      const reason = error instanceof Unsearchable ? error.message : "searching it failed";
      return this.fail(reason, id);
    }
  }

  #clean(text: string): string {
    const parts: string[] = [];
    let at = 0;
    const finds = this.#found(text);
    for (const { kind, secret } of finds) if (secret !== undefined) this.#markerOf(kind, secret);
    for (const { kind, start, end, secret } of unitedFinds(finds)) {
      parts.push(text.slice(at, start), this.#mark(kind, secret ?? text.slice(start, end)));
      at = end;
    }
    const clean = at === 0 ? text : `${parts.join("")}${text.slice(at)}`;
    return this.#forms.replaced(clean, (marker) => {
      this.#count(marker);
    });
  }

  #found(text: string, decodings?: number): FoundSecret[] {
    if (text.length <= redactedUnitsMax) return this.#find(text, decodings);
    throw new Unsearchable(`it has a text of ${text.length} characters, over ${redactedUnitsMax}`);
  }

  get #images(): number {
    return this.#replaced[imageKind] ?? 0;
  }

  #mark(kind: string, secret: string): string {
    // Found by its form wherever it is, and too large to be kept.
    if (kind === imageKind) {
      this.#count(mediaMarker);
      return mediaMarker;
    }
    const marker = this.#markerOf(kind, secret);
    this.#count(marker);
    return marker;
  }

  #markerOf(kind: string, secret: string): string {
    const known = this.#markers.get(secret);
    if (known !== undefined) return known;
    const number = (this.#numbers.get(kind) ?? 0) + 1;
    const marker = `[redacted: ${kind} ${number}]`;
    this.#markers.set(secret, marker);
    this.#numbers.set(kind, number);
    return marker;
  }

  #count(marker: string): void {
    const kind = /: ([\w-]+)/.exec(marker)?.[1] ?? "";
    this.#replaced[kind] = (this.#replaced[kind] ?? 0) + 1;
    if (kind !== imageKind) this.#used.add(marker);
  }

  /**
   * String by string, as decoded, so that escapes hide nothing; and private keys with each line in
   * a string of its own.
   */
  #members(line: string): string {
    const out: string[] = [];
    const open: OpenObject[] = [];
    let key = "";
    const keys = privateKeys(line);
    for (const token of jsonTokens(line)) {
      const { source, kind } = token;
      if (kind === "open") {
        const isSecret = open.at(-1)?.isSecret === true || isSecretName(key);
        open.push({ start: out.length, images: this.#images, key, isSecret, isMedia: false });
      }
      if (kind === "open" || kind === "close") {
        out.push(source);
        const object = kind === "close" ? open.pop() : undefined;
        key = object?.key ?? "";
        if (object?.isMedia !== true) continue;
        if (open.length === 0) throw new Unsearchable("it is an image, or another document");
        out.length = object.start;
        out.push(mediaNote);
        this.#replaced[imageKind] = object.images + 1;
      } else if (kind === "between") {
        // Numbers of tokens are sizes.
        const isNamed = /\d/.test(source) && isSecretName(key) && !/tokens?$/i.test(key);
        out.push(isNamed ? this.#numbersIn(source) : source);
      } else {
        const text = textOf(source);
        const object = open.at(-1);
        if (kind === "key") key = text;
        if (object !== undefined && kind === "text" && isMedia(key, text)) object.isMedia = true;
        const isValue = kind === "text" && !isPlaceholder(text);
        const find = isValue && !structuralKeys.test(key) ? beyond(keys, token) : undefined;
        const isBelow = object?.isSecret === true && !describingKeys.test(key);
        const isNamed = isValue && (isBelow ? !structuralKeys.test(key) : isSecretName(key));
        const whole = isNamed ? this.#named(text) : this.#clean(text);
        const clean = find ? this.#mark(find.kind, line.slice(find.start, find.end)) : whole;
        out.push(clean === text ? source : JSON.stringify(clean));
      }
    }
    return out.join("");
  }

  #named(text: string): string {
    const clean = this.#clean(text);
    return onlyMarker.test(clean) ? clean : this.#mark(namedKind, text);
  }

  #numbersIn(source: string): string {
    return source.replaceAll(/-?\d[\d.eE+-]*/g, (number) =>
      JSON.stringify(this.#mark(namedKind, number)),
    );
  }

  /**
   * Secrets found outside strings: the whole strings are replaced. Without decoding: the decoded
   * strings were searched.
   */
  #searchedAgain(line: string): string {
    const finds = unitedFinds(this.#found(line, 0));
    if (finds.length === 0) return line;
    const out: string[] = [];
    let key = "";
    for (const token of jsonTokens(line)) {
      const { source, kind } = token;
      if (kind === "key") key = textOf(source);
      const text = kind === "text" && !structuralKeys.test(key) ? textOf(source) : "";
      const find = isPlaceholder(text) ? undefined : overlapping(finds, token);
      out.push(find === undefined ? source : JSON.stringify(this.#mark(find.kind, text)));
    }
    return out.join("");
  }

  #requireNone(text: string): string {
    if (this.#forms.replaced(text, () => undefined) === text) return text;
    throw new Unsearchable("a secret would remain in it");
  }
}

function isMedia(key: string, value: string): boolean {
  return key === "type" ? mediaTypes.test(value) : mediaKeys.test(key) && !textTypes.test(value);
}

class Unsearchable extends Error {}

function idIn(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const id: unknown = Object(value) === value ? Reflect.get(Object(value), "id") : undefined;
    return typeof id === "string" && findSecrets(id).length === 0 ? id : undefined;
  } catch {
    throw new Unsearchable("a line is not JSON");
  }
}

/** A JSON string, decoded. */
function textOf(source: string): string {
  return String(JSON.parse(source));
}

function overlapping(
  finds: readonly FoundSecret[],
  { start, source }: JsonToken,
): FoundSecret | undefined {
  return finds.find((find) => find.start < start + source.length && find.end > start);
}

/** One that reaches beyond the token. */
function beyond(finds: readonly FoundSecret[], token: JsonToken): FoundSecret | undefined {
  const find = overlapping(finds, token);
  const end = token.start + token.source.length;
  return find === undefined || (find.start >= token.start && find.end <= end) ? undefined : find;
}

/** Joins those that overlap, under the kind and with the decoded secret of the first. */
function unitedFinds(finds: readonly FoundSecret[]): FoundSecret[] {
  const united: FoundSecret[] = [];
  for (const find of finds) {
    const last = united.at(-1);
    if (last === undefined || find.start >= last.end) united.push(find);
    else if (find.end > last.end) united[united.length - 1] = { ...last, end: find.end };
  }
  return united;
}
