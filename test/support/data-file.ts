/** Tables of tests that are files of JSON next to them. */
import { readFileSync } from "node:fs";

/** What such a file holds, for the module with this `import.meta.url`. */
export function dataBeside(module: string, name: string): unknown {
  const data: unknown = JSON.parse(readFileSync(new URL(name, module), "utf8"));
  return data;
}
