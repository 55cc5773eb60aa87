/** What a program pays that watches nothing: not the library of the observables. */
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

/** How many modules of rxjs an entry point loads, as built. */
function rxjsModules(entryPoint: string): number {
  const script = `
    import { createRequire } from "node:module";
    await import(${JSON.stringify(new URL(`../../../packages/core/dist/${entryPoint}`, import.meta.url).href)});
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    process.stdout.write(String(loaded.filter((file) => file.includes("rxjs")).length));`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", script]));
}

it("only @branchlog/core/live loads rxjs", () => {
  for (const entryPoint of ["index.js", "adapters/pi/index.js", "adapters/omp/index.js"]) {
    expect([entryPoint, rxjsModules(entryPoint)]).toEqual([entryPoint, 0]);
  }
  expect(rxjsModules("public-live.js")).toBeGreaterThan(0);
});
