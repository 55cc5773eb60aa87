/** Transcripts as files below a directory, in the layout of Claude Code. */
import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import type { SessionKey } from "@anthropic-ai/claude-agent-sdk";
import { engineSettings, errorCodeOf, resolvePath } from "@branchlog/core/files";
import type { EngineSettings } from "@branchlog/core/files";
import { archiveFiles } from "@branchlog/library/catalogs";
import type { DataDirectoryOptions } from "@branchlog/library";
import { requireSegment, transcriptEnding, transcriptPath } from "./session-key.ts";
import { TranscriptFile } from "./transcript-file.ts";
import type { KeptSession, Transcripts } from "./transcripts.ts";

export class TranscriptDirectory implements Transcripts {
  readonly #directory: string;
  readonly #archive: DataDirectoryOptions;
  readonly #settings: EngineSettings;

  constructor(directory: string, options: DataDirectoryOptions) {
    this.#directory = resolvePath(directory);
    this.#archive = options;
    this.#settings = engineSettings({ ports: options.ports ?? {} });
  }

  at(key: SessionKey): TranscriptFile {
    return new TranscriptFile(transcriptPath(this.#directory, key), this.#settings);
  }

  async sessions(projectKey: string): Promise<readonly KeptSession[]> {
    const directory = join(this.#directory, requireSegment("The project key", projectKey));
    const sessions: KeptSession[] = [];
    for (const entry of await entriesOf(directory)) {
      if (!entry.isFile() || !entry.name.endsWith(transcriptEnding)) continue;
      const { mtimeMs, size } = (await statOf(join(directory, entry.name))) ?? {
        mtimeMs: 0,
        size: 0,
      };
      const sessionId = entry.name.slice(0, -transcriptEnding.length);
      if (size > 0) sessions.push({ sessionId, mtime: Math.floor(mtimeMs), sizeBytes: size });
    }
    return sessions;
  }

  async subpaths(key: SessionKey): Promise<readonly string[]> {
    const directory = this.#directoryOf(key);
    return (await this.#filesBelow(directory))
      .filter((path) => path.endsWith(transcriptEnding))
      .map((path) => path.slice(directory.length + 1, -transcriptEnding.length))
      .map((path) => path.split(sep).join("/"))
      .toSorted();
  }

  /** Into the archive, with all that is in its directory. */
  async remove(key: SessionKey): Promise<void> {
    const path = transcriptPath(this.#directory, key);
    const below = key.subpath === undefined ? await this.#filesBelow(this.#directoryOf(key)) : [];
    await archiveFiles(path, below, this.#archive);
  }

  #directoryOf({ projectKey, sessionId }: SessionKey): string {
    const path = transcriptPath(this.#directory, { projectKey, sessionId });
    return path.slice(0, -transcriptEnding.length);
  }

  async #filesBelow(directory: string): Promise<readonly string[]> {
    const found: string[] = [];
    const waiting = [directory];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      for (const entry of await entriesOf(at)) {
        if (entry.isDirectory()) waiting.push(join(at, entry.name));
        else if (entry.isFile()) found.push(join(at, entry.name));
      }
    }
    return found;
  }
}

/** Undefined: it was deleted since it was listed. */
async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (errorCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function entriesOf(directory: string) {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (errorCodeOf(error) === "ENOENT") return [];
    throw error;
  }
}
