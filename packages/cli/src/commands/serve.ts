/** `branchlog serve`: the page over sessions, until it is interrupted. */
import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { BranchlogError } from "@branchlog/core";
import { fileOfAddress } from "@branchlog/core/rows";
import { knownPlaces } from "@branchlog/library";
import { serve } from "@branchlog/web";
import type { ShownPlace } from "@branchlog/web";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { UsageError } from "../failure.ts";
import { isAddress } from "../path-form.ts";
import { placeOfPath } from "../place-of-path.ts";
import { sessionPath } from "../session-path.ts";
import { addressedStore } from "../stored-session.ts";
import { wholeLine } from "../text/clean-text.ts";

export interface ServeCommandOptions {
  readonly places: readonly string[];
  readonly port: number | undefined;
  readonly host: string | undefined;
  readonly write: boolean;
  readonly open: boolean;
  readonly json: boolean;
}

export async function serveCommand(
  { places, port, host, write, open, json }: ServeCommandOptions,
  { out, err, signal, runInBackground }: CommandIo,
): Promise<CommandResult> {
  const { place, session } = await placeOf(places, signal);
  // A password in an option would be visible in the list of processes.
  const token = process.env["BRANCHLOG_TOKEN"];
  const onProblem = (error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error);
    void err
      .write(`${wholeLine(message)}\n`)
      .then(() => err.flush())
      .catch(() => undefined);
  };
  const served = await serve({ place, session, port, host, token, write, onProblem });
  if (json) await writeJsonLine(out, { url: served.url });
  else await out.write(`${served.url}\nCtrl-C stops it. The address opens one page, once.\n`);
  await out.flush();
  if (open) openInBrowser(served.url);
  // The page searches as the user types.
  if (places.length === 0) runInBackground?.(["index", "update"]);
  if (!signal.aborted) {
    await new Promise<void>((end) => {
      signal.addEventListener("abort", () => end(), { once: true });
    });
  }
  await served.close();
  return 0;
}

interface Shown {
  readonly place: ShownPlace;
  /** Of a single session that was given. */
  readonly session?: string;
}

async function placeOf(words: readonly string[], signal: AbortSignal): Promise<Shown> {
  const [first] = words;
  if (first === undefined) return { place: knownPlaces() };
  if (words.some((word) => isAddress(word))) {
    const stored = words.length === 1 ? await addressedStore(first) : undefined;
    if (stored !== undefined) return { place: stored };
    throw new UsageError("Give the address of one store, or directories and sessions.");
  }
  const paths: string[] = [];
  for (const word of words) paths.push(resolve(await sessionPath(word, signal)));
  const absent = paths.find((path) => !existsSync(fileOfAddress(path).file));
  if (absent !== undefined) {
    const message = `${absent} does not exist. Give a directory with sessions, or a session.`;
    throw new BranchlogError("ERR_LOG_MISSING", message, { path: absent });
  }
  const named = await Promise.all(paths.map(placeOfPath));
  const isDirectory = (path: string): boolean => statSync(path).isDirectory();
  const place = named.map(({ place: one }) => (isDirectory(one) ? one : dirname(one)));
  const [{ only: session } = {}] = named;
  return named.length === 1 && session !== undefined ? { place, session } : { place };
}

/** Best effort: the address is on the terminal as well. */
function openInBrowser(url: string): void {
  const [command, ...words] =
    process.platform === "darwin"
      ? ["open"]
      : process.platform === "win32"
        ? ["cmd", "/c", "start", ""]
        : ["xdg-open"];
  if (command === undefined) return;
  const child = spawn(command, [...words, url], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
