/** Finds files that import each other in a circle, types included. */
import { dirname, join } from "node:path/posix";
import { importsOf } from "./imports.ts";
import type { SourceFile } from "./source-file.ts";

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
