/** `branchlog index`: what the search index holds, and its updates. */
import { checkSearchIndex, dropSearchIndex } from "@branchlog/library";
import { searchIndexState, updateSearchIndex } from "@branchlog/library";
import type { SearchIndexState } from "@branchlog/library";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { UsageError } from "../failure.ts";
import { ProgressLine } from "../progress.ts";
import { oneLine } from "../text/clean-text.ts";
import { agoText, countText, numberText, sizeText } from "../text/quantities.ts";

export interface IndexCommandOptions {
  /** Undefined: it is shown. */
  readonly action: string | undefined;
  /** Directories and session files; empty: where agents keep sessions. */
  readonly places: readonly string[];
  readonly json: boolean;
}

export async function indexCommand(
  { action, places, json }: IndexCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { out } = io;
  const answer = await answerOf(action, places, io);
  if (json) await writeJsonLine(out, answer.facts);
  else await out.write(`${answer.text}\n`);
  return 0;
}

interface Answer {
  readonly facts: object;
  readonly text: string;
}

async function answerOf(
  action: string | undefined,
  places: readonly string[],
  io: CommandIo,
): Promise<Answer> {
  if (action === "update") return updated(places, io);
  if (places.length > 0) throw new UsageError("PLACES apply only to index update.");
  if (action === "check") {
    await checkSearchIndex();
    return { facts: { sound: true }, text: "the search index is sound" };
  }
  if (action === "drop") {
    const dropped = await dropSearchIndex();
    return { facts: { dropped }, text: dropped ? "dropped" : "there was no search index" };
  }
  const state = await searchIndexState();
  return { facts: state, text: stateText(state, io.now()) };
}

async function updated(places: readonly string[], io: CommandIo): Promise<Answer> {
  const progress = new ProgressLine(io, "indexing", "bytes");
  const update = await progress.during(() =>
    updateSearchIndex({
      ...(places.length === 0 ? {} : { places }),
      onProgress: ({ bytes, totalBytes }) => progress.show(bytes, totalBytes),
      signal: io.signal,
    }),
  );
  const { bytes, files, removed } = update;
  const gone = removed === 0 ? "" : `, removed ${countText(removed, "session")}`;
  return {
    facts: update,
    text: `indexed ${sizeText(bytes)} of ${countText(files, "file")}${gone}`,
  };
}

function stateText({ path, index }: SearchIndexState, nowMs: number): string {
  const place = oneLine(path, 400);
  if (index === undefined) {
    return `no search index at ${place}\nbranchlog index update creates it; so does a long search`;
  }
  const { sizeBytes, updatedMs, files, indexedBytes, lines, words } = index;
  return [
    `path      ${place}`,
    `size      ${sizeText(sizeBytes)}`,
    `sessions  ${countText(files, "file")}, ${sizeText(indexedBytes)}`,
    `holds     ${countText(lines, "line")}, ${numberText(words)} distinct words`,
    `updated   ${agoText(updatedMs, nowMs)}`,
  ].join("\n");
}
