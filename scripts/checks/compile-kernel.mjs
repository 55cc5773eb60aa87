/** Compiles the scan kernel, `packages/streaming/kernel`, to a WebAssembly module. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import asc from "assemblyscript/asc";

import { root } from "./packages.mjs";

/** Pages of 64 KiB: all that `kernel/memory.ts` lays out. */
const memoryPages = "288";

/**
 * The code of the module.
 * @param {(name: string, text: string) => string} [edit] Changes a source before it is compiled.
 * @returns {Promise<Buffer>}
 */
export async function compileKernel(edit = (_, text) => text) {
  let code = Buffer.alloc(0);
  const memory = ["--initialMemory", memoryPages, "--maximumMemory", memoryPages];
  const options = ["--runtime", "stub", "--noAssert", "--use", "abort=", "--enable", "simd"];
  const { error } = await asc.main(
    ["index.ts", "--outFile", "kernel.wasm", "-O3", "--converge", ...options, ...memory],
    {
      stderr: process.stderr,
      readFile: async (name) => {
        const path = join(root, "packages/streaming/kernel", name);
        const text = await readFile(path, "utf8").catch(() => null);
        return text === null ? null : edit(name, text);
      },
      writeFile: (name, contents) => {
        if (name === "kernel.wasm") code = Buffer.from(contents);
      },
    },
  );
  if (error) throw error;
  return code;
}
