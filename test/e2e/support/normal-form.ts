/**
 * Gives two runs of a program the same names for what is new in each: ids, times and paths. What
 * was in the inputs keeps its value. Names are given in the order of appearance, so two runs have
 * equal normal forms only if their ids are used in the same places.
 */
import { sessionFiles } from "./sandbox.ts";
import type { Sandbox } from "./sandbox.ts";

const uuid = /(?<![\da-f])[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![\da-f])/g;
const time = /\b(\d{4}-\d\d-\d\d)T(\d\d)[:-](\d\d)[:-](\d\d)[.-](\d{3})Z/g;
const entryId = /\b[\da-f]{8}\b/g;
const localPort = /127\.0\.0\.1:\d+/g;

/** Names what is new in one run. Keep one per run: names are stable over all that it is given. */
export class NormalForm {
  readonly #known: ReadonlySet<string>;
  readonly #names = new Map<string, string>();
  readonly #place: Pick<Sandbox, "root">;
  readonly #startMs: number;

  /** `inputs`: texts whose ids keep their names; `keepsTimes`: the runs had the same clock. */
  constructor(
    place: Pick<Sandbox, "root">,
    inputs: readonly string[] = [],
    { keepsTimes = false }: { readonly keepsTimes?: boolean } = {},
  ) {
    this.#place = place;
    this.#startMs = keepsTimes ? Infinity : Date.now() - 60_000;
    const ids = inputs.flatMap((text) => [...text.matchAll(uuid), ...text.matchAll(entryId)]);
    this.#known = new Set(ids.map(([id]) => id));
  }

  /** A copy of a JSON value with names instead of what is new. */
  of(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") return this.#isNew(value) ? "<ms>" : value;
    if (Array.isArray(value)) return value.map((item) => this.of(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.text(key), this.of(item)]),
    );
  }

  /** The session files below the sandbox, by their names. */
  files(): Record<string, unknown> {
    const files = Array.from(sessionFiles(this.#place.root), ([name, text]) => {
      return [this.text(name), this.#lines(text)] as const;
    });
    return Object.fromEntries(files);
  }

  /** The lines of a session file, each as its JSON value; one that is not JSON stays a string. */
  #lines(text: string): unknown[] {
    const lines = text.split("\n");
    const last = lines.pop() ?? "";
    return [...lines.map((line) => this.#line(line)), ...(last === "" ? [] : [{ open: last }])];
  }

  text(text: string): string {
    return text
      .replaceAll(this.#place.root, "<root>")
      .replaceAll(this.#place.root.replaceAll("/", "-").slice(1), "<root>")
      .replaceAll(localPort, "<model>")
      .replaceAll(time, (whole, day: string, ...parts: string[]) =>
        this.#isNew(Date.parse(`${day}T${parts.slice(0, 3).join(":")}.${parts[3]}Z`))
          ? "<time>"
          : whole,
      )
      .replaceAll(uuid, (id) => this.#name(id, "session"))
      .replaceAll(entryId, (id) => this.#name(id, "entry"));
  }

  #line(line: string): unknown {
    try {
      return this.of(withPisHeader(JSON.parse(line)));
    } catch {
      return line;
    }
  }

  #isNew(timeMs: number): boolean {
    return Number.isSafeInteger(timeMs) && timeMs >= this.#startMs && timeMs <= Date.now() + 60_000;
  }

  #name(id: string, kind: string): string {
    if (this.#known.has(id)) return id;
    const name = this.#names.get(id) ?? `<${kind} ${this.#names.size + 1}>`;
    this.#names.set(id, name);
    return name;
  }
}

const headerFields = new Set(["type", "version", "id", "timestamp", "cwd", "parentSession"]);

/** Tolerated: a fork of ours keeps the header fields of other programs, of which pi's has none. */
function withPisHeader(record: unknown): unknown {
  if (typeof record !== "object" || record === null || !("parentSession" in record)) return record;
  return Object.fromEntries(Object.entries(record).filter(([key]) => headerFields.has(key)));
}
