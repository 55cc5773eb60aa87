/** Finds files that import each other in a circle, types included. */
import { dirname, join } from "node:path/posix";
import { importsOf } from "./imports.ts";
import type { SourceFile } from "./source-file.ts";

/** Circles that are left. One that is gone leaves this list, too. */
export const knownCircles: readonly (readonly string[])[] = [
  ["packages/cli/src/commands/archived-list.ts", "packages/cli/src/commands/list.ts"],
  [
    "packages/core/src/dialects/claude-bodies.ts",
    "packages/core/src/dialects/claude-transcript.ts",
    "packages/core/src/dialects/codex-bodies.ts",
    "packages/core/src/dialects/codex-transcript.ts",
    "packages/core/src/dialects/foreign-record.ts",
    "packages/core/src/dialects/transcript.ts",
  ],
  [
    "packages/core/src/index-table/log-indexer.ts",
    "packages/core/src/index-table/transcript-indexer.ts",
  ],
  [
    "packages/library/src/catalog/listed-session.ts",
    "packages/library/src/catalog/session-facts.ts",
    "packages/library/src/catalog/transcript-scan.ts",
  ],
  [
    "packages/library/src/find/find-sessions.ts",
    "packages/library/src/find/latest-sessions.ts",
    "packages/library/src/find/stored-sessions.ts",
  ],
];

/** Groups of files of which each imports, directly or not, every other one of its group. */
export function fileCircles(files: readonly SourceFile[]): string[][] {
  const imports = new Map(files.map((file) => [file.path, importedFiles(file)]));
  const importers = new Map(files.map(({ path }) => [path, [] as string[]]));
  for (const [path, targets] of imports) {
    for (const target of targets) importers.get(target)?.push(path);
  }
  const circles: string[][] = [];
  const placed = new Set<string>();
  for (const { path } of files) {
    if (placed.has(path)) continue;
    const above = reachedFrom(path, importers);
    const circle = [...reachedFrom(path, imports)].filter((other) => above.has(other));
    for (const member of circle) placed.add(member);
    if (circle.length > 1) circles.push(circle.toSorted());
  }
  return circles;
}

function importedFiles(file: SourceFile): string[] {
  const relative = importsOf(file).filter(({ specifier }) => specifier.startsWith("."));
  return relative.map(({ specifier }) => join(dirname(file.path), specifier));
}

/** Itself included. */
function reachedFrom(path: string, links: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set([path]);
  for (const one of reached) for (const next of links.get(one) ?? []) reached.add(next);
  return reached;
}
