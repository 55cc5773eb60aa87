/** Checks the code base itself. Each check is first shown a bad sample that it must find. */
import { describe, expect, it } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorCodes } from "@branchlog/core/errors";
import { notYetProven, promises } from "./promises.ts";
import { fileCircles } from "./tidy/circles.ts";
import {
  brokenLinks,
  errorHeadings,
  promiseBalance,
  promiseTable,
  readDocument,
  verifiedPromises,
  wrongLineCounts,
} from "./tidy/documents.ts";
import { busyIndexes, hiddenExports, typeEscapes } from "./tidy/escapes.ts";
import {
  deepImports,
  foreignPackages,
  importsOf,
  manyDoors,
  upwardImports,
} from "./tidy/imports.ts";
import { printsElsewhere } from "./tidy/printing.ts";
import { absentNames, knownNames } from "./tidy/references.ts";
import { badNames, bannedWords, missingHeaders, oddPhrases, wideLines } from "./tidy/shape.ts";
import { filesBelow, packageSources, parse, root } from "./tidy/source-file.ts";
import type { Problem, SourceFile } from "./tidy/source-file.ts";

const sources = packageSources();

/** Checks of one source file, each with samples that it must find and one that it must pass. */
const fileChecks: readonly {
  readonly name: string;
  readonly check: (file: SourceFile) => Problem[];
  readonly bad: readonly string[];
  readonly good: string;
  readonly path?: string;
}[] = [
  {
    name: "lines have at most 100 columns",
    check: wideLines,
    bad: [`a;\n${"x".repeat(101)}`],
    good: "→".repeat(100),
  },
  {
    name: "files open with a comment on what they are",
    check: missingHeaders,
    bad: ["export const a = 1;", "/** */\na;", "// a\nb;", "\n/** late */"],
    good: "#!/usr/bin/env node\n/**\n * What it is.\n */\na;",
  },
  {
    name: "nothing announces unfinished work",
    check: bannedWords,
    bad: ["// TODO later", "/* FIXME */", "// XXX"],
    good: "// todo lists are not meant",
  },
  {
    name: "phrases are those of other technical documents",
    check: oddPhrases,
    bad: ["// It goes on.", "/** A sub-agent. */", "const a = `${b} is gone for good`;"],
    good: "// It continues; a subagent is removed permanently.",
  },
  {
    name: "nothing goes around the compiler",
    check: typeEscapes,
    bad: [
      "let a: any;",
      "a!.b;",
      "let a!: string;",
      "class C { a!: string }",
      "a as unknown as B;",
      "(a as unknown) as B;",
      "<B>a;",
      "// @ts-ignore\na;",
    ],
    good: "const a = b as C;\n// Decoding boundary: why.\nconst d = e as unknown as F; // any\n// Cast: why.\nreturn g as unknown as H;",
  },
  {
    name: "exports are named",
    check: hiddenExports,
    bad: [
      "export default 1;",
      "export default function f() {}",
      'export * from "./a.ts";',
      'export * as a from "./a.ts";',
      "export { a as default };",
    ],
    good: 'export { a } from "./a.ts"; export const b = 1;',
  },
  {
    name: "an index is a list of named exports",
    check: busyIndexes,
    path: "packages/core/src/index.ts",
    bad: ["export const a = 1;", 'import "./a.ts";', 'export * from "./a.ts";'],
    good: 'export { a } from "./a.ts"; export type { B } from "./b.ts";',
  },
  {
    name: "packages import only those below, and only by name",
    check: foreignPackages,
    path: "packages/core/src/platform/sample.ts",
    bad: [
      'import { a } from "@branchlog/cli";',
      'import { a } from "../../../streaming/src/scan.ts";',
      'export { a } from "@branchlog/core";',
      'const a = await import("@branchlog/bench");',
    ],
    good: 'import { a } from "@branchlog/streaming/x"; import { b } from "../errors.ts";',
  },
  {
    name: "imports in the core run downwards",
    check: upwardImports,
    path: "packages/core/src/platform/sample.ts",
    bad: [
      'import { a } from "../session/engine.ts";',
      'import type { A } from "../index-table/row-table.ts";',
      'import { a } from "../index.ts";',
      'type A = import("../testing/a.ts").A;',
    ],
    good: 'import { a } from "../errors.ts"; import { b } from "./ports.ts"; import "node:fs";',
  },
  {
    name: "only the outputs of the command print",
    check: printsElsewhere,
    path: "packages/cli/src/sample.ts",
    bad: [
      "console.log(a);",
      "globalThis.console.error(a);",
      "process.stdout.write(a);",
      'process["stderr"].write(a);',
      "const { stdout } = process;",
      'import { stdout } from "node:process";',
      'import { log } from "node:console";',
      "process.emitWarning(a);",
      "writeSync(1, a);",
      'fs.createWriteStream("/dev/stderr");',
    ],
    good: "process.stdin; const { TERM } = process.env; out.write(a); writeSync(fd, a); // console",
  },
];

describe("every source file", () => {
  it("is checked", () => {
    const packages = new Set(sources.map(({ path }) => path.split("/")[1]));
    expect([...packages].toSorted((a = "", b = "") => a.localeCompare(b))).toEqual([
      "agents",
      "bench",
      "branchlog",
      "cli",
      "core",
      "library",
      "postgres",
      "sdks",
      "streaming",
      "tools",
      "web",
    ]);
  });

  describe.each(fileChecks)("$name", ({ check, bad, good, path = "packages/core/src/x.ts" }) => {
    it.each(bad)("and the check finds %j", (text) => {
      expect(check(parse(path, text))).not.toEqual([]);
    });

    it("and the check passes a correct sample", () => {
      expect(check(parse(path, good))).toEqual([]);
    });

    it("in the packages", () => {
      expect(sources.flatMap(check)).toEqual([]);
    });
  });

  it("of the core belongs to a stage", () => {
    expect(upwardImports(parse("packages/core/src/tools/a.ts", ""))).not.toEqual([]);
    expect(upwardImports(parse("packages/core/src/tools.ts", ""))).not.toEqual([]);
    expect(upwardImports(parse("packages/core/src/errors/a.ts", ""))).not.toEqual([]);
  });

  it("of a package that is not in the table is found", () => {
    expect(foreignPackages(parse("packages/new/src/a.ts", ""))).not.toEqual([]);
  });
});

describe("tests", () => {
  const path = "test/core/log/sample.test.ts";
  const imported = (from: string): Problem[] =>
    deepImports(parse(path, `import { a } from "${from}";`));

  it.each([
    "../../../packages/core/src/session/engine.ts",
    "../../../packages/tools/src/repair/plan-repair.ts",
  ])("that import %s are found", (from) => {
    expect(imported(from)).not.toEqual([]);
  });

  it.each([
    "@branchlog/core/engine",
    "../../support/ledger.ts",
    "../../../packages/core/src/log/log-state.ts",
    "../../../packages/core/src/platform/lock.ts",
  ])("may import %s", (from) => {
    expect(imported(from)).toEqual([]);
  });

  it("import internal code only of their own stage or an earlier one", () => {
    const tests = filesBelow("test").filter((name) => name.endsWith(".ts"));
    const texts = tests.map((name) => {
      return { path: name, text: readFileSync(join(root, name), "utf8") };
    });
    // Others need not be parsed: no import of theirs leaves the folder of tests.
    const far = texts.filter(({ text }) => text.includes("/packages/"));
    expect(far.flatMap((file) => deepImports(parse(file.path, file.text)))).toEqual([]);
  });
});

describe("files of a package", () => {
  it("have no import cycles", () => {
    const imports = (path: string, ...names: readonly string[]): SourceFile =>
      parse(path, names.map((name) => `import type { A } from "./${name}";`).join("\n"));
    const [b, c] = [imports("p/b.ts", "c.ts"), imports("p/c.ts", "a.ts", "d.ts")];
    const samples = [imports("p/a.ts", "b.ts"), b, c, imports("p/d.ts", "e.ts"), imports("p/e.ts")];
    expect(fileCircles(samples)).toEqual([["p/a.ts", "p/b.ts", "p/c.ts"]]);
    expect(fileCircles(sources)).toEqual([]);
  });
});

describe("third-party packages", () => {
  const one = parse("packages/core/src/a.ts", 'import { LRUCache } from "lru-cache";');
  const two = parse("packages/core/src/b.ts", 'import type { LRUCache } from "lru-cache/min";');

  it("are imported in one file each", () => {
    expect(manyDoors([one])).toEqual([]);
    expect(manyDoors([one, two])).toHaveLength(2);
    expect(manyDoors(sources)).toEqual([]);
  });

  it("are found in every form of import", () => {
    const text = 'import "a"; export { b } from "b"; await import("c"); type D = import("d").D;';
    const found = importsOf(parse("x.ts", text)).map(({ specifier }) => specifier);
    expect(found).toEqual(["a", "b", "c", "d"]);
  });
});

describe("names of files and folders", () => {
  it.each(["src/utils/a.ts", "src/file-helpers.ts", "src/common.ts", "src/lineFramer.ts"])(
    "and the check finds %s",
    (path) => {
      expect(badNames(path)).not.toEqual([]);
    },
  );

  it("describe their contents", () => {
    const folders = ["packages", "test", "fixtures", "scripts", "examples"];
    const paths = folders.flatMap((folder) => filesBelow(folder));
    const code = paths.filter((path) => /\.(tsx?|mjs)$/.test(path));
    expect(code.length).toBeGreaterThan(sources.length);
    expect(code.flatMap((path) => badNames(path))).toEqual([]);
  });
});

describe("documents", () => {
  const documents = filesBelow(".")
    .filter((path) => path.endsWith(".md"))
    .map((path) => readDocument(path));

  it("explain every error code and no other", () => {
    const sample = { path: "errors.md", text: "## ERR_B\n## ERR_A\n```\n## ERR_C\n```\n" };
    expect(errorHeadings(sample, ["ERR_A", "ERR_C"])).toHaveLength(3);
    expect(errorHeadings(readDocument("docs/errors.md"), errorCodes)).toEqual([]);
  });

  it("list the files of an append and their lengths", () => {
    const limits = { files: 12, lines: 2700 };
    const row = "| `platform/node-file-system.ts` | 7 | |\n| all | 7 | |\n";
    const sample = { path: "sample.md", text: row };
    expect(wrongLineCounts(sample, { files: 0, lines: 7 })).toHaveLength(4);
    expect(wrongLineCounts(readDocument("ARCHITECTURE.md"), limits)).toEqual([]);
  });

  it("use the phrases of other technical documents", () => {
    // Decisions and changes are not rewritten.
    const past = /^(CHANGELOG|docs\/decisions\/|\.changeset\/)/;
    const present = documents.filter(({ path }) => !past.test(path));
    expect(present.flatMap((document) => oddPhrases(document))).toEqual([]);
  });

  it("have no broken links", () => {
    const links = ["no-file.md", "#nothing", "LICENSE", "#a-heading", "https://example.org"];
    const text = `# A heading\n${links.map((link) => `[a](${link})`).join(" ")} \`[a](code)\``;
    const broken = brokenLinks({ path: "sample.md", text });
    expect(broken.map((problem) => problem.split(" ")[4])).toEqual(["no-file.md", "#nothing"]);
    expect(documents.flatMap((document) => brokenLinks(document))).toEqual([]);
  });
});

describe("comments and documents", () => {
  it("name files and symbols that exist", () => {
    const known = knownNames();
    const sample = "/** See `noSuchName()`, no-such-file.ts and core/errors.ts. */\nlet a = `b`;";
    const absent = absentNames({ path: "a.ts", text: sample }, known);
    expect(absent.map((problem) => problem.split(/[ ,]/)[2])).toEqual([
      "no-such-file.ts",
      "noSuchName",
    ]);

    const code = /^((packages\/[^/]+\/src|test|scripts|examples)\/.*\.(tsx?|mts|mjs)|.*\.md)$/;
    // What was decided or changed once may be gone since.
    const past = /(^|\/)(CHANGELOG\.md|upgrading\.md|decisions\/|\.changeset\/)|^test\/tidy/;
    const paths = filesBelow(".").filter((path) => code.test(path) && !past.test(path));
    const named = paths.flatMap((path) => absentNames(readDocument(path), known));
    expect(named).toEqual([]);
  });
});

describe("promises", () => {
  const known = Object.keys(promises);
  const unproven = Object.keys(notYetProven);

  it("are proven by a test, or listed as not yet proven, but not both", () => {
    expect(promiseBalance(["P1", "P2"], [], new Set(["P1"]))).toHaveLength(1);
    expect(promiseBalance(["P1"], ["P1"], new Set(["P1"]))).toHaveLength(1);
    expect(promiseBalance(["P1"], [], new Set(["P1", "P9"]))).toHaveLength(1);
    expect([...verifiedPromises(["Verifies: P1, P12 and"])]).toEqual(["P1", "P12"]);

    // Other files than these, which speak of promises without proving any.
    const tests = filesBelow("test").filter((path) => /^test\/(?!tidy).*\.ts$/.test(path));
    const texts = tests.map((path) => readFileSync(join(root, path), "utf8"));
    expect(promiseBalance(known, unproven, verifiedPromises(texts))).toEqual([]);
  });

  it("have their state in docs/promises.md", () => {
    const table = promiseTable(readDocument("docs/promises.md"));
    const expected = known.map((name) => [name, unproven.includes(name) ? "not yet" : "yes"]);
    const said = known.map((name) => [name, table.get(name)?.split(/[,:]/)[0]]);
    expect(said).toEqual(expected);
  });
});
