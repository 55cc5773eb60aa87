/** What pi needs of its session layer, read from the installed packages, is all in ours. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { builtFace, newestPiPackage, piPackage } from "./support/install.ts";
import { bothPis, sessionModule } from "./support/pi-program.ts";

const pis = bothPis();

/** The names that modules below a folder import from, or export of, the session module. */
function importedNames(packageFolder: string, extension: string): Set<string> {
  const dist = join(packageFolder, "dist");
  const names = new Set<string>();
  for (const path of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(extension) || path.startsWith("bundle")) continue;
    if (extension === ".js" && path.endsWith(".d.ts")) continue;
    const text = readFileSync(join(dist, path), "utf8");
    const statements = text.matchAll(
      /(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*["'][^"']*session-manager\.[jt]s["']/g,
    );
    for (const [, list = ""] of statements) {
      for (const item of list.split(",")) {
        const name = item
          .replace(/^\s*type\s+/, "")
          .trim()
          .split(/\s+/)[0];
        if (name !== undefined && name !== "") names.add(name);
      }
    }
    expect(text).not.toMatch(/import\s*\*\s*as\s+\w+\s+from\s*["'][^"']*session-manager/);
  }
  return names;
}

/** Names that an `index.d.ts` hands out: it is a list. */
function declaredNames(path: string): Set<string> {
  const text = readFileSync(path, "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
  const lists = text.matchAll(/export\s+(?:type\s+)?\{([^}]*)\}/g);
  const names = Array.from(lists, ([, list = ""]) =>
    list.split(",").map((item) => item.trim().split(/\s+/).at(-1) ?? ""),
  );
  return new Set(names.flat());
}

/** What a module holds, seen by the Node that runs pi. */
interface Surface {
  readonly exports: readonly string[];
  readonly statics: readonly string[];
  readonly methods: readonly string[];
}

function surfaceOf(module: string): Surface {
  const script = `
    const module = await import(${JSON.stringify(pathToFileURL(module).href)});
    // Also what a class inherits, as ours does from its parts.
    const own = (object) =>
      object === null || object === Object.prototype || object === Function.prototype
        ? []
        : [...Object.getOwnPropertyNames(object), ...own(Object.getPrototypeOf(object))];
    console.log(JSON.stringify({
      exports: Object.keys(module),
      statics: own(module.SessionManager),
      methods: own(module.SessionManager.prototype),
    }));`;
  const args = ["--input-type=module", "--eval", script];
  const text = execFileSync(pis.original.node, args, { encoding: "utf8" });
  return JSON.parse(text) as Surface;
}

describe.each([
  ["that runs whole", piPackage],
  ["that is newest", newestPiPackage],
])("Verifies: P20. The pi %s", (_, packageFolder) => {
  it("finds every value that its modules import in the drop-in", () => {
    const needed = importedNames(packageFolder(), ".js");
    expect(needed.size).toBeGreaterThan(10);
    const { exports } = surfaceOf(builtFace());
    expect([...needed].filter((name) => !exports.includes(name))).toEqual([]);
  });

  it("finds every type that its modules import in the drop-in", () => {
    const needed = importedNames(packageFolder(), ".d.ts");
    expect(needed.size).toBeGreaterThan(15);
    const declared = declaredNames(join(dirname(builtFace()), "index.d.ts"));
    expect([...needed].filter((name) => !declared.has(name))).toEqual([]);
  });

  it("finds every export, static and public method of its own session layer", () => {
    const theirs = surfaceOf(join(packageFolder(), sessionModule));
    const ours = surfaceOf(builtFace());
    const isMissing = (own: readonly string[]) => (name: string) =>
      !name.startsWith("_") && !own.includes(name);
    expect(theirs.exports.filter(isMissing(ours.exports))).toEqual([]);
    expect(theirs.statics.filter(isMissing(ours.statics))).toEqual([]);
    expect(theirs.methods.filter(isMissing(ours.methods))).toEqual([]);
  });
});

it("The copy of pi has our session layer instead of its own", () => {
  const index = (folder: string): string => pathToFileURL(join(folder, "dist/index.js")).href;
  const script = `
      const { SessionManager } = await import(${JSON.stringify(pathToFileURL(builtFace()).href)});
      const copy = await import(${JSON.stringify(index(pis.replaced.packageFolder))});
      const original = await import(${JSON.stringify(index(pis.original.packageFolder))});
      console.log([copy, original].map((pi) => pi.SessionManager === SessionManager).join());`;
  const args = ["--input-type=module", "--eval", script];
  const text = execFileSync(pis.replaced.node, args, { encoding: "utf8" });
  expect(text.trim()).toBe("true,false");
});
