/**
 * Which hits are copies: a fork repeats entries of its origin, with their ids or, where entries
 * have none of their own, with their texts. Of sessions that come from one another, a copy counts
 * in the first one that is searched. Files of the same session are not forks. Pure. Memory: a
 * digest for each text, and a number for each session that says it.
 */
import { createHash } from "node:crypto";
import type { SessionHeader } from "@branchlog/core";
import { originOf } from "../find/session-groups.ts";

export interface SaidIn {
  readonly path: string;
  readonly header: SessionHeader;
  readonly entryId: string;
  readonly kind: string;
  readonly role?: string;
  readonly text: string;
}

/** Of entries that are known by their places. */
const placeId = /^(?:line|turn):/;

export class CopiedHits {
  /** By text: how often in each session so far. */
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #ids = new Map<string, string>();
  /** Related sessions have one root: ids, and paths that headers name. */
  readonly #above = new Map<string, string>();
  /** Paths of sessions, by their root. */
  readonly #families = new Map<string, string[]>();

  /** Whether a related session had as many of it before. */
  isCopy({ path, header, entryId, kind, role = "", text }: SaidIn): boolean {
    this.#place(path, header);
    const said = placeId.test(entryId) ? [kind, role, text] : [kind, role, entryId];
    const key = createHash("sha256").update(JSON.stringify(said)).digest("base64").slice(0, 16);
    const counts = this.#counts.get(key) ?? new Map<string, number>();
    this.#counts.set(key, counts);
    const own = (counts.get(path) ?? 0) + 1;
    counts.set(path, own);
    const family = this.#families.get(this.#rootOf(path)) ?? [];
    const hasAsMany = (other: string): boolean =>
      other !== path && (counts.get(other) ?? 0) >= own && this.#ids.get(other) !== header.id;
    return family.some(hasAsMany);
  }

  #place(path: string, header: SessionHeader): void {
    if (this.#ids.has(path)) return;
    this.#ids.set(path, header.id);
    const root = this.#rootOf(path);
    this.#families.set(root, [...(this.#families.get(root) ?? []), path]);
    this.#join(path, header.id);
    const origin = originOf(header);
    if (origin === undefined) return;
    for (const name of [origin.reference, origin.id]) this.#join(path, name);
  }

  #join(one: string, other: string): void {
    const [root, otherRoot] = [this.#rootOf(one), this.#rootOf(other)];
    if (root === otherRoot) return;
    this.#above.set(root, otherRoot);
    const [family = [], otherFamily = []] = [root, otherRoot].map((at) => this.#families.get(at));
    this.#families.set(otherRoot, [...otherFamily, ...family]);
    this.#families.delete(root);
  }

  #rootOf(name: string): string {
    let root = name;
    for (let above = this.#above.get(root); above !== undefined; above = this.#above.get(root)) {
      root = above;
    }
    if (root !== name) this.#above.set(name, root);
    return root;
  }
}
