/** ConnectOnion: a file of YAML holds all runs of one agent. */
import { resolve } from "node:path";
import type { Agent } from "@branchlog/core/rows";
import { filesBelow } from "../files-below.ts";
import { isPlace, isSessionDocument, runsDirectory } from "./document-head.ts";

export const connectonion: Agent = {
  name: "connectonion",
  product: "ConnectOnion",
  places: () => [resolve(".co", "sessions"), resolve(".co", "evals")],
  resume: () => null,
  documents: {
    agent: "connectonion",
    version: 1,
    noun: "a document of ConnectOnion",
    mayBe: (name) => /\.ya?ml$/.test(name),
    recognises: (path) => isSessionDocument(path),
    isPlace,
    belongings: runsOf,
    filesOf: (path) => [path, ...runsOf(path)],
    // Loaded on demand: a YAML parser would delay the start of every program.
    toLog: async (path, given) => (await import("./import-log.ts")).documentLog(path, given),
  },
};

/** The runs of an eval. */
function runsOf(path: string): readonly string[] {
  const directory = runsDirectory(path);
  return directory === undefined ? [] : filesBelow(directory);
}
