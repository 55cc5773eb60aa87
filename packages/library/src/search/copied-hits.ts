/**
 * Which hits are copies: a fork repeats entries of its origin, some agents with other ids and
 * times. Of sessions that come from one another, each entry that says the same counts in the first
 * one that is searched. Files of the same session are no forks. Pure. Memory: 16 characters for
 * each hit.
 */
import { createHash } from "node:crypto";
import type { SessionHeader } from "@branchlog/core";
import { originOf } from "../find/session-groups.ts";

export interface SaidIn {
  readonly path: string;
  readonly header: SessionHeader;
  readonly kind: string;
  readonly role?: string;
  readonly text: string;
}

export class CopiedHits {
  /** By what is said: how often in each session so far. */
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #ids = new Map<string, string>();
  /** Sessions that come from one another have one root: ids, and paths that headers name. */
  readonly #above = new Map<string, string>();

  /** Whether a related session had as many of it before. */
  isCopy({ path, header, kind, role = "", text }: SaidIn): boolean {
    this.#ids.set(path, header.id);
    this.#join(path, header.id);
    const origin = originOf(header);
    if (origin !== undefined)
      for (const name of [origin.reference, origin.id]) this.#join(path, name);
    const key = createHash("sha256").update(`${kind}\n${role}\n${text}`).digest("base64");
    const counts = this.#counts.get(key.slice(0, 16)) ?? new Map<string, number>();
    this.#counts.set(key.slice(0, 16), counts);
    const own = (counts.get(path) ?? 0) + 1;
    counts.set(path, own);
    const root = this.#rootOf(path);
    const hasAsMany = ([other, count]: readonly [string, number]): boolean =>
      count >= own && this.#ids.get(other) !== header.id && this.#rootOf(other) === root;
    return [...counts].some(hasAsMany);
  }

  #join(one: string, other: string): void {
    const [root, otherRoot] = [this.#rootOf(one), this.#rootOf(other)];
    if (root !== otherRoot) this.#above.set(root, otherRoot);
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
