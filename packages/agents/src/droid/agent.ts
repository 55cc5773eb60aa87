/** Droid, of Factory. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { Agent } from "@branchlog/core/rows";
import { resolvePath } from "@branchlog/core/files";
import { titleIn } from "../spoken-title.ts";
import { DroidTranscript, isDroidRecord } from "./droid-transcript.ts";

export const droid: Agent = {
  name: "droid",
  product: "Droid",
  places: () => {
    const { FACTORY_HOME_OVERRIDE } = process.env;
    const home = FACTORY_HOME_OVERRIDE ? resolvePath(FACTORY_HOME_OVERRIDE) : homedir();
    return [join(home, ".factory", "sessions")];
  },
  resume: ({ id }) => ["droid", "--resume", id],
  transcripts: {
    agent: "droid",
    version: 1,
    noun: "a session of Droid",
    recognises: isDroidRecord,
    presumed: { owner: "" },
    firstKeys: ["type"],
    read: (path, isEntry) => new DroidTranscript(basename(path), isEntry),
    subagentNames: {
      pattern: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.jsonl$/,
      place: "beside",
    },
    titleIn,
    identity: () => undefined,
    belongings: (path) =>
      [".settings.json", ".settings.json.bak"]
        .map((end) => path.replace(/\.jsonl$/, end))
        .filter((file) => file !== path && existsSync(file)),
  },
};
