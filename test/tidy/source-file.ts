/** The source files of the workspace, read and parsed once, and the walk over their syntax trees. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** The root of the workspace. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** One file; `path` is relative to the root, with slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

/** A file that is wrong in some way, in the form `path:line: what`. */
export type Problem = string;

const skipped = new Set([
  "dist-packages",
  "site",
  "node_modules",
  "dist",
  ".git",
  "peers",
  ".stryker",
]);

/** Paths of all files below a folder, relative to the root, sorted; built and foreign ones not. */
export function filesBelow(folder: string): string[] {
  const found: string[] = [];
  const folders = [folder];
  for (let current = folders.pop(); current !== undefined; current = folders.pop()) {
    for (const entry of readdirSync(join(root, current), { withFileTypes: true })) {
      const path = current === "." ? entry.name : `${current}/${entry.name}`;
      if (entry.isFile()) found.push(path);
      else if (entry.isDirectory() && !skipped.has(entry.name)) folders.push(path);
    }
  }
  return found.sort();
}

/** A source file from its text: the form in which the checks get their bad samples. */
export function parse(path: string, text: string): SourceFile {
  return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
}

/** Every TypeScript file in the `src` of a package. */
export function packageSources(): SourceFile[] {
  return filesBelow("packages")
    .filter((path) => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path))
    .map((path) => parse(path, readFileSync(join(root, path), "utf8")));
}

/** Calls `visit` for every node of a file, parents first. */
export function visitNodes(file: SourceFile, visit: (node: ts.Node) => void): void {
  const nodes: ts.Node[] = [file.tree];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    visit(node);
    const children: ts.Node[] = [];
    ts.forEachChild(node, (child) => void children.push(child));
    nodes.push(...children.reverse());
  }
}

/** The problem that a node of a file is. */
export function problemAt(file: SourceFile, node: ts.Node, what: string): Problem {
  const { line } = file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree));
  return `${file.path}:${line + 1}: ${what}`;
}
