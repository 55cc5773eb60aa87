/** What a program pays that watches nothing: not the library of the observables. */
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

/** How many modules of rxjs entry points load, as built. */
function rxjsModules(...entryPoints: readonly string[]): number {
  const built = new URL("../../../packages/", import.meta.url);
  const urls = entryPoints.map((entryPoint) => new URL(entryPoint, built).href);
  const script = `
    import { createRequire } from "node:module";
    for (const url of ${JSON.stringify(urls)}) await import(url);
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    process.stdout.write(String(loaded.filter((file) => file.includes("rxjs")).length));`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", script]));
}

it("only the entry points for live values load rxjs", () => {
  const folders = ["core/dist", "library/dist", "agents/dist/pi", "agents/dist/omp", "tools/dist"];
  expect(rxjsModules(...folders.map((folder) => `${folder}/index.js`))).toBe(0);
  expect(rxjsModules("core/dist/public-live.js")).toBeGreaterThan(0);
  expect(rxjsModules("library/dist/public-live.js")).toBeGreaterThan(0);
});
