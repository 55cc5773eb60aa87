/**
 * Checks of what imports what: packages are built on each other, the stages of the core on each
 * other like floors, and each third-party package has one door.
 */
import { dirname, join } from "node:path/posix";
import ts from "typescript";
import { problemAt, visitNodes } from "./source-file.ts";
import type { Problem, SourceFile } from "./source-file.ts";

/** Which packages of the workspace a package may import. */
const packagesBelow: Readonly<Record<string, readonly string[]>> = {
  streaming: [],
  core: ["streaming"],
  library: ["core", "streaming"],
  tools: ["core", "library", "streaming"],
  agents: ["core", "library", "streaming", "tools"],
  postgres: ["core", "streaming"],
  sdks: ["core", "library", "streaming"],
  web: ["agents", "core", "library", "postgres", "streaming", "tools"],
  cli: ["agents", "core", "library", "postgres", "streaming", "tools", "web"],
  branchlog: ["agents", "core", "library", "postgres", "sdks", "streaming", "tools", "web"],
  bench: ["agents", "core", "library", "postgres", "streaming"],
};

/** The floors of the core, the lowest first: each imports from itself and from those below. */
const coreFloors: readonly (readonly string[])[] = [
  ["errors", "limits", "argument-checks"],
  ["entries"],
  ["dialects"],
  ["platform"],
  ["store"],
  ["index-table"],
  ["bodies"],
  ["projections"],
  ["checkpoint"],
  ["log"],
  ["append"],
  ["session"],
  ["copies"],
  ["live"],
  ["open"],
  ["testing"],
  [
    "index",
    "public-entries",
    "public-live",
    "public-types",
    "files",
    "rows",
    "engine",
    "live-values",
  ],
];

/** One import, or re-export, of a module. */
export interface ImportSite {
  readonly specifier: string;
  readonly node: ts.Node;
}

/** Every module that a file names: static, type-only, re-exported, or imported on demand. */
export function importsOf(file: SourceFile): ImportSite[] {
  const sites: ImportSite[] = [];
  visitNodes(file, (node) => {
    const named = moduleNameOf(node);
    if (named !== undefined && ts.isStringLiteralLike(named)) {
      sites.push({ specifier: named.text, node });
    }
  });
  return sites;
}

function moduleNameOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    return node.argument.literal;
  const isCall = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isCall ? node.arguments[0] : undefined;
}

/** Imports of packages that are next to or above, and relative imports that leave the package. */
export function foreignPackages(file: SourceFile): Problem[] {
  const [, name = "", src = ""] = file.path.split("/");
  const allowed = packagesBelow[name];
  if (allowed === undefined) return [`${file.path}:1: packagesBelow does not know "${name}"`];
  return importsOf(file).flatMap(({ specifier, node }) => {
    const isOutside =
      isRelative(specifier) && !resolved(file, specifier).startsWith(`packages/${name}/${src}/`);
    const isForeign =
      specifier.startsWith("@branchlog/") &&
      !allowed.includes(packageOf(specifier).replace("@branchlog/", ""));
    return isOutside || isForeign ? [problemAt(file, node, `${name} imports ${specifier}`)] : [];
  });
}

/** Imports in the core that run upwards, and files that are on no floor. */
export function upwardImports(file: SourceFile): Problem[] {
  if (!file.path.startsWith("packages/core/src/")) return [];
  const own = floorOf(file.path);
  if (own < 0) return [`${file.path}:1: stands on no floor of the core`];
  return importsOf(file).flatMap(({ specifier, node }) => {
    if (!isRelative(specifier)) return [];
    const target = resolved(file, specifier);
    if (target.endsWith("/index.ts")) {
      return [problemAt(file, node, `imports ${specifier}; an index is for those outside`)];
    }
    return floorOf(target) > own ? [problemAt(file, node, `imports upwards: ${specifier}`)] : [];
  });
}

/** What tests reach beyond the doors and their own stage, because no door should show it. */
const deeperTests: Readonly<Record<string, readonly string[]>> = {
  "test/agents/omp/directories.test.ts": ["packages/agents/src/omp/omp-directory.ts"],
  "test/agents/pi/agent-directory.test.ts": [
    "packages/core/src/platform/user-paths.ts",
    "packages/agents/src/pi/pi-directory.ts",
  ],
  "test/agents/pi/session-directory.test.ts": ["packages/library/src/catalog/limits.ts"],
  "test/agents/session-lookup.test.ts": ["packages/library/src/catalog/limits.ts"],
  "test/agents/pi/system-message.test.ts": [
    "packages/core/src/projections/context.ts",
    "packages/core/src/projections/projection.ts",
  ],
  "test/library/catalog/saved-directory.ts": [
    "packages/core/src/checkpoint/page-file.ts",
    "packages/core/src/checkpoint/saved-bytes.ts",
    "packages/core/src/index-table/saved-pages.ts",
  ],
  "test/library/catalog/session-marks.test.ts": ["packages/core/src/dialects/title-slot.ts"],
  "test/core/checkpoint/saved-usage.test.ts": ["packages/agents/src/pi/log-queries.ts"],
  "test/core/index-table/index-table.test.ts": ["packages/core/src/projections/tree.ts"],
  "test/core/index-table/log-indexer.test.ts": ["packages/core/src/projections/tree.ts"],
  "test/core/session/cost-growth.test.ts": ["packages/bench/src/plain-session.ts"],
  "test/e2e-omp/face-on-bun.test.ts": ["packages/bench/src/peers.ts"],
  "test/e2e-omp/support/omp-program.ts": ["packages/bench/src/peers.ts"],
  "test/fixtures/command-line.test.ts": ["packages/bench/src/generator/command-line.ts"],
  "test/tools/export/changed-source.test.ts": ["packages/cli/src/output.ts"],
};

/**
 * Imports of a test below `test/PACKAGE/STAGE` that reach code of another package, or of a later
 * stage, past its entry points. Folders of `test` that belong to no package have only these;
 * `test/support` is what they share.
 */
export function deepImports(file: SourceFile): Problem[] {
  const [, name = ""] = file.path.split("/");
  if (name === "support") return [];
  const allowed = deeperTests[file.path] ?? [];
  const own = `packages/${name}/src/`;
  const floor = floorOf(file.path.replace(/^test\//, "packages/").replace("/core/", "/core/src/"));
  return importsOf(file).flatMap(({ specifier, node }) => {
    const target = resolved(file, specifier);
    if (!isRelative(specifier) || !target.startsWith("packages/")) return [];
    const isOwn = target.startsWith(own) && (name !== "core" || floorOf(target) <= floor);
    return isOwn || allowed.includes(target) ? [] : [problemAt(file, node, `imports ${target}`)];
  });
}

function floorOf(path: string): number {
  const [, , , first = ""] = path.split("/");
  const isFile = first.endsWith(".ts");
  const name = first.replace(/\.ts$/, "");
  const floor = coreFloors.findIndex((names) => names.includes(name));
  // The lowest floor and the door are files; every other stage is a folder or, while small, a file.
  const isRightKind = isFile || (floor > 0 && floor < coreFloors.length - 1);
  return isRightKind ? floor : -1;
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith(".");
}

/** The package of a bare specifier: without the subpath. */
function packageOf(specifier: string): string {
  const parts = specifier.split("/");
  return parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

function resolved(file: SourceFile, specifier: string): string {
  return join(dirname(file.path), specifier);
}

/** Packages whose doors are folders. */
const wideDoors: Readonly<Record<string, readonly string[]>> = {
  "@modelcontextprotocol/sdk": ["packages/cli/src/mcp/"],
  "@anthropic-ai/claude-agent-sdk": ["packages/sdks/src/claude/"],
  "@langchain/langgraph-checkpoint": ["packages/sdks/src/langgraph/"],
  "@openai/agents-core": ["packages/sdks/src/openai/"],
  rxjs: ["packages/core/src/live/", "packages/library/src/live/"],
  preact: ["packages/web/src/page/"],
  "@preact/signals": ["packages/web/src/page/"],
};

/** Third-party packages that are imported in more than one file, or outside of their folder. */
export function manyDoors(files: readonly SourceFile[]): Problem[] {
  const doors = new Map<string, Map<string, Problem>>();
  for (const file of files) {
    for (const { specifier, node } of importsOf(file)) {
      if (isRelative(specifier) || /^(node:|@branchlog\/)/.test(specifier)) continue;
      const name = packageOf(specifier);
      const folders = wideDoors[name] ?? [];
      const door = folders.some((folder) => file.path.startsWith(folder)) ? name : file.path;
      const known = doors.get(name) ?? new Map<string, Problem>();
      doors.set(name, known.set(door, problemAt(file, node, `one of several doors to ${name}`)));
    }
  }
  const crowded = [...doors.values()].filter((sites) => sites.size > 1);
  return crowded.flatMap((sites) => [...sites.values()]);
}
