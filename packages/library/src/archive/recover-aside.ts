/**
 * Restores the names of files that a killed process had set aside, and ignores those of a running
 * one. Every command that removes or restores files does so first; reading commands do not.
 */
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { hashedName } from "@branchlog/core/files";
import { filesOpenElsewhere, identityOf, statOf } from "./file-state.ts";
import type { Archive } from "./archive-directory.ts";
import type { FileChange } from "./operation.ts";
import { hashOfFile } from "./restore-file.ts";
import { FilesAside, abandonedName, asideEnding, giveName } from "./set-aside.ts";

export interface AsideFacts {
  /** The file with the name: none, the file itself, or another file. */
  readonly name: "free" | "its own" | "taken";
  /** Elsewhere: where it was moved to; in a pack, or derived from an original. */
  readonly bytes: "moved" | "kept" | "only here";
}

/** A file with the only copy of its bytes is never removed. Pure. */
export function planAside({ name, bytes }: AsideFacts): "put back" | "remove" | "leave" {
  if (name === "its own") return "put back";
  if (bytes === "moved") return "remove";
  if (name === "free") return "put back";
  return bytes === "kept" ? "remove" : "leave";
}

/**
 * Of the files that operations name, of `paths`, and of what is directly in them. Throws nothing:
 * unrecovered files stay for the next command.
 */
export async function recoverAside(kept: Archive, paths: readonly string[] = []): Promise<void> {
  const changes = new Map<string, FileChange[]>(paths.map((path) => [path, []]));
  for (const operation of await kept.operations().catch(() => [])) {
    for (const change of operation.changes) {
      const path = pathOf(change);
      changes.set(path, [...(changes.get(path) ?? []), change]);
    }
  }
  const directories = [...changes.keys()].map((path) => dirname(path));
  for (const directory of new Set([...directories, ...paths])) {
    for (const name of namesAside(directory)) {
      const aside = join(directory, name);
      const path = pathOfAside(aside, changes.keys());
      if (path === undefined) continue;
      // The next command tries again.
      await recover({ path, aside }, changes.get(path) ?? [], kept).catch(() => undefined);
    }
  }
}

function pathOf(change: FileChange): string {
  if ("file" in change) return change.file.path;
  return change.kind === "moved" ? change.from : change.path;
}

function namesAside(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(asideEnding));
  } catch {
    return [];
  }
}

/** A name that was too long is found again among those that are known. */
function pathOfAside(aside: string, known: Iterable<string>): string | undefined {
  const stem = abandonedName(aside);
  if (stem === undefined) return undefined;
  if (!stem.startsWith(".branchlog-")) return join(dirname(aside), stem);
  for (const path of known) {
    if (dirname(path) === dirname(aside) && hashedName(basename(path)) === stem) return path;
  }
  return undefined;
}

interface Aside {
  readonly path: string;
  readonly aside: string;
}

async function recover(
  { path, aside }: Aside,
  changes: readonly FileChange[],
  kept: Archive,
): Promise<void> {
  const { ports } = kept;
  const moved = changes.find((one) => one.kind === "moved" && isSame(aside, one.to));
  const target = moved?.kind === "moved" ? moved.to : path;
  const name = isSame(aside, target) ? "its own" : statOf(target) === undefined ? "free" : "taken";
  const sha256 = (await hashOfFile(aside)) ?? "";
  const bytes = await placeOfBytes(aside, sha256, changes, kept);
  const plan = planAside({ name, bytes });
  if (plan === "put back") giveName(ports.fs, aside, target);
  if (plan !== "remove") return;
  const file = new FilesAside(ports, [{ path, aside, sha256 }]);
  await file.requireKnown(filesOpenElsewhere());
  file.remove();
}

async function placeOfBytes(
  aside: string,
  sha256: string,
  changes: readonly FileChange[],
  kept: Archive,
): Promise<AsideFacts["bytes"]> {
  for (const change of changes) {
    switch (change.kind) {
      case "removed":
      case "restored":
        if (change.file.sha256 === sha256 && kept.hasPack(change.file.pack)) return "kept";
        break;
      case "moved":
        if (await isCopied(aside, change)) return "moved";
        break;
      case "replaced": {
        // An undo puts the original in its place.
        const { path, before, after } = change;
        if (after === sha256 && (await hashOfFile(path)) === before) return "kept";
      }
    }
  }
  return "only here";
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [statOf(one), statOf(other)];
  return left !== undefined && right !== undefined && identityOf(left) === identityOf(right);
}

/** Whether all after the header is where the file was moved to. */
async function isCopied(
  aside: string,
  { to, header }: Extract<FileChange, { readonly kind: "moved" }>,
): Promise<boolean> {
  if (header === undefined) return false;
  const [before, after] = header.map((line) => Buffer.byteLength(line));
  const bytes = (statOf(aside)?.size ?? 0) - (before ?? 0);
  if (bytes < 0) return false;
  const rest = await hashOfFile(aside, bytes, before);
  return rest !== undefined && rest === (await hashOfFile(to, bytes, after));
}
