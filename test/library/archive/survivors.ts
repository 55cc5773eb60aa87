/** Which lines are left after removals: in files, or in what operations keep. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, constants } from "node:zlib";
import { operations } from "@branchlog/library";
import type { FileChange } from "@branchlog/library";

const params = { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 };

/** How often each line is in a file below `root`, or in a file that is archived. */
export async function survivors(
  root: string,
  dataDir: string,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const add = (text: string): void => {
    for (const line of text.split("\n")) counts.set(line, (counts.get(line) ?? 0) + 1);
  };
  for (const path of filesIn(root)) add(readFileSync(path, "utf8"));
  for (const text of await keptTexts(dataDir)) add(text);
  return counts;
}

/** All but what a killed process left under a temporary name: nothing finds that again. */
function filesIn(root: string): readonly string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !file.name.endsWith(".tmp"))
    .map((file) => join(file.parentPath, file.name));
}

export function asideIn(root: string): readonly string[] {
  return filesIn(root).filter((path) => path.endsWith(".branchlog-aside"));
}

/** Of the files that operations removed and did not restore, as far as these are not there. */
async function keptTexts(dataDir: string): Promise<readonly string[]> {
  const removed = new Map<string, Extract<FileChange, { readonly kind: "removed" }>["file"]>();
  for (const { changes } of await operations({ dataDir })) {
    for (const change of changes) {
      if (!("file" in change)) continue;
      const place = `${change.file.pack} ${change.file.offset}`;
      if (change.kind === "removed") removed.set(place, change.file);
      else removed.delete(place);
    }
  }
  const packs = new Map<string, Buffer>();
  return [...removed.values()].map(({ pack, offset, sizeBytes }) => {
    const path = join(dataDir, "packs", pack);
    const bytes = packs.get(pack) ?? brotliDecompressSync(readFileSync(path), { params });
    packs.set(pack, bytes);
    return bytes.toString("utf8", offset, offset + sizeBytes);
  });
}
