/** The session files of the repository. */
import { readFileSync } from "node:fs";

/** The bytes of a fixture, which is named without its ending. */
export function fixtureBytes(name: string): Buffer {
  return readFileSync(new URL(`../../fixtures/${name}.jsonl`, import.meta.url));
}
