/** The session files of the repository. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The path of a fixture, which is named without its ending. */
export function fixtureFile(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/${name}.jsonl`, import.meta.url));
}

/** The bytes of one. */
export function fixtureBytes(name: string): Buffer {
  return readFileSync(fixtureFile(name));
}
