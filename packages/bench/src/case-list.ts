/** Every case, in running order, and its file. */
import type { BenchCase } from "./bench-case.ts";
import { cases as append } from "./cases/append.ts";
import { cases as bodies } from "./cases/bodies.ts";
import { cases as context } from "./cases/context.ts";
import { cases as lines } from "./cases/lines.ts";
import { cases as list } from "./cases/list.ts";
import { cases as live } from "./cases/live.ts";
import { cases as memory } from "./cases/memory.ts";
import { cases as open } from "./cases/open.ts";
import { cases as search } from "./cases/search.ts";
import { cases as shapes } from "./cases/shapes.ts";
import { cases as stores } from "./cases/stores.ts";
import { cases as transcripts } from "./cases/transcripts.ts";
import { cases as tree } from "./cases/tree.ts";

const inFiles = {
  lines,
  open,
  context,
  append,
  tree,
  bodies,
  list,
  search,
  shapes,
  memory,
  live,
  transcripts,
  stores,
};
const files = Object.entries(inFiles);

export const cases: readonly BenchCase[] = files.flatMap(([, inFile]) => inFile);

export function modulePathOf(name: string): string {
  const found = files.find(([, inFile]) => inFile.some((one) => one.name === name));
  return `cases/${found?.[0] ?? "none"}`;
}
