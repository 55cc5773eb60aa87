/**
 * Results of tools that were too large for a transcript: it has their beginning, and names the file
 * with all, in a directory of the session. Subagents share that of their session.
 */
import { lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { SideTexts } from "@branchlog/core/rows";

const textName = /\.(?:txt|json|md)$/;
const beginning = /^\s*<persisted-output>[^]*? saved to: ([^\n]+)/;

export const toolResults: SideTexts = {
  files(path) {
    const own = dirname(path);
    const session = basename(own) === "subagents" ? dirname(own) : path.replace(/\.jsonl$/, "");
    const directory = join(session, "tool-results");
    try {
      // A link may lead anywhere.
      if (!lstatSync(directory).isDirectory()) return [];
      const places = readdirSync(directory, { withFileTypes: true });
      const files = places.filter((place) => place.isFile() && textName.test(place.name));
      return files.map(({ name }) => join(directory, name));
    } catch {
      return [];
    }
  },

  nameIn(text) {
    const [, path] = beginning.exec(text) ?? [];
    return path === undefined ? undefined : /[^/\\]*$/.exec(path.trim())?.[0];
  },
};
