/** `branchlog doctor`: versions, places, sizes, locks, problems; no text of a session. */
import { accessSync, constants, lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { homedir, release } from "node:os";
import { dirname, join } from "node:path";
import { isBranchlogError } from "@branchlog/core";
import { cachedSearchIndexes, errorCodeOf, processState } from "@branchlog/core/files";
import { registeredAgents } from "@branchlog/core/rows";
import { findSessions, searchIndexState } from "@branchlog/library";
import type { ListedSession } from "@branchlog/library";
import { dataDirectory } from "@branchlog/library/catalogs";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { ProgressLine } from "../progress.ts";
import { countText, sizeText } from "../text/quantities.ts";

export interface DoctorOptions {
  readonly json: boolean;
}

/** As in `--json`. Paths in the home directory begin with `~`. */
interface Diagnosis {
  readonly version: string;
  readonly node: string;
  readonly system: string;
  /** The version of Node's own; null: the one of the package is used. */
  readonly sqlite: string | null;
  readonly agents: readonly AgentPlaces[];
  /** Files among those of sessions that cannot be listed. */
  readonly unlisted: number;
  readonly index: { readonly sizeBytes: number; readonly files: number } | null;
  readonly directories: readonly OwnDirectory[];
  readonly locks: readonly HeldLock[];
  readonly problems: readonly string[];
}

interface AgentPlaces {
  readonly agent: string;
  /** Those that exist. */
  readonly places: readonly string[];
  readonly sessions: number;
  readonly sizeBytes: number;
}

interface OwnDirectory {
  readonly what: "cache" | "archive";
  readonly path: string;
  readonly sizeBytes: number;
}

interface HeldLock {
  /** The name of the session's file. */
  readonly file: string;
  readonly holder: "alive" | "ended" | "unknown";
  readonly ageMs: number;
}

const lockEnd = ".branchlog-lock";
const leastNode = [20, 19] as const;

export async function doctorCommand(
  { json }: DoctorOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const progress = new ProgressLine(io, "listing", "sessions");
  const diagnosis = await progress.during(() => diagnose(io));
  if (json) await writeJsonLine(io.out, diagnosis);
  else await io.out.write(diagnosisText(diagnosis));
  return diagnosis.problems.length === 0 ? 0 : 1;
}

async function diagnose(io: CommandIo): Promise<Diagnosis> {
  const problems: string[] = [];
  const agents = registeredAgents().map((agent) => ({
    name: agent.name,
    places: [...new Set(agent.places())].filter((place) => isThere(place, problems)),
  }));
  const existing = agents.flatMap(({ places }) => places);
  const { sessions, unlisted } = await findSessions(existing, {
    catalog: "auto",
    artifacts: true,
    signal: io.signal,
  });
  const locks = locksBeside(sessions, io.now());
  for (const { file, holder } of locks) {
    if (holder === "ended")
      problems.push(`The process that locked ${file} ended without unlocking it.`);
  }
  if (unlisted.length > 0) problems.push(`${countText(unlisted.length, "file")} cannot be listed.`);
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < leastNode[0] || (major === leastNode[0] && minor < leastNode[1])) {
    problems.push(`Node ${process.versions.node} is older than ${leastNode.join(".")}.`);
  }
  return {
    version: io.version?.() ?? "unknown",
    node: process.versions.node,
    system: `${process.platform} ${process.arch} ${release()}`,
    sqlite: process.versions["sqlite"] ?? null,
    agents: agents.map(({ name, places }) => {
      const own = sessions.filter(
        ({ transcript, dialect }) => (transcript?.of ?? dialect) === name,
      );
      const sizeBytes = own.reduce((sum, session) => sum + (session.sizeBytes ?? 0), 0);
      return { agent: name, places: places.map(shownPath), sessions: own.length, sizeBytes };
    }),
    unlisted: unlisted.length,
    index: await indexFacts(problems),
    directories: [
      directoryFacts("cache", dirname(cachedSearchIndexes()), problems),
      directoryFacts("archive", dataDirectory(), problems),
    ],
    locks,
    problems,
  };
}

function isThere(place: string, problems: string[]): boolean {
  try {
    if (statSync(place, { throwIfNoEntry: false }) === undefined) return false;
    accessSync(place, constants.R_OK);
  } catch (error) {
    // A part of the path is a file.
    if (errorCodeOf(error) === "ENOTDIR") return false;
    problems.push(`${shownPath(place)} cannot be read: check its permissions.`);
  }
  return true;
}

/** @returns Null: missing or unreadable. */
async function indexFacts(problems: string[]): Promise<Diagnosis["index"]> {
  try {
    const { index } = await searchIndexState();
    return index === undefined ? null : { sizeBytes: index.sizeBytes, files: index.files };
  } catch (error) {
    if (!isBranchlogError(error)) throw error;
    problems.push(
      `The search index cannot be read (${error.code}): branchlog index drop removes it.`,
    );
    return null;
  }
}

function directoryFacts(
  what: OwnDirectory["what"],
  path: string,
  problems: string[],
): OwnDirectory {
  const facts = { what, path: shownPath(path) };
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return { ...facts, sizeBytes: 0 };
    accessSync(path, constants.W_OK);
    const files = readdirSync(path, { recursive: true, withFileTypes: true });
    const sizes = files.map((file) =>
      file.isFile()
        ? (statSync(join(file.parentPath, file.name), { throwIfNoEntry: false })?.size ?? 0)
        : 0,
    );
    return { ...facts, sizeBytes: sizes.reduce((sum, size) => sum + size, 0) };
  } catch {
    problems.push(`${facts.path} cannot be written: check its permissions.`);
    return { ...facts, sizeBytes: 0 };
  }
}

function locksBeside(sessions: readonly ListedSession[], nowMs: number): readonly HeldLock[] {
  const directories = new Set(sessions.map(({ path }) => dirname(path)));
  return [...directories].flatMap((directory) =>
    namesIn(directory)
      .filter((name) => name.endsWith(lockEnd))
      .flatMap((name) => lockAt(directory, name, nowMs) ?? []),
  );
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Undefined: it was released in the meantime. */
function lockAt(directory: string, name: string, nowMs: number): HeldLock | undefined {
  const path = join(directory, name);
  const file = name.slice(0, -lockEnd.length);
  try {
    const state = processState(readlinkSync(path));
    const holder = state === "ended" ? "ended" : state === "running" ? "alive" : "unknown";
    return { file, holder, ageMs: Math.max(0, nowMs - lstatSync(path).mtimeMs) };
  } catch {
    return undefined;
  }
}

function shownPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function diagnosisText({ agents, index, directories, locks, problems, ...one }: Diagnosis): string {
  const found = agents.filter(({ places, sessions }) => places.length > 0 || sessions > 0);
  const sqlite = one.sqlite === null ? "from the package" : `${one.sqlite} from Node`;
  return [
    `branchlog ${one.version} · Node ${one.node} · ${one.system} · SQLite ${sqlite}\n`,
    ...found.map(({ agent, places, sessions, sizeBytes }) => {
      const counts = `${countText(sessions, "session")}, ${sizeText(sizeBytes)}`;
      return `${agent.padEnd(14)}${counts.padEnd(24)}${places.join(", ")}\n`;
    }),
    index === null
      ? "no search index yet\n"
      : `search index  ${countText(index.files, "file")}, ${sizeText(index.sizeBytes)}\n`,
    ...directories.map(
      ({ what, path, sizeBytes }) => `${what.padEnd(14)}${sizeText(sizeBytes).padEnd(24)}${path}\n`,
    ),
    ...locks.map(({ file, holder }) => `lock          ${file}, holder: ${holder}\n`),
    ...(problems.length === 0
      ? ["no problems\n"]
      : problems.map((problem) => `problem: ${problem}\n`)),
  ].join("");
}
