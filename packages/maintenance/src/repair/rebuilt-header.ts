/**
 * Rebuilds a missing header from its remains, a later header, the file name and the entries. An
 * unknown `cwd` is empty, as readers take a missing one.
 */
import { basename } from "node:path";
import type { JsonObject } from "@branchlog/streaming";
import { isValidSessionId } from "@branchlog/core/internal";
import type { EntryForm } from "@branchlog/core/internal";
import type { HeaderFacts } from "./record-facts.ts";
import type { HeaderSource, HeaderStep } from "./repair-plan.ts";

export interface HeaderEvidence {
  readonly path: string;
  readonly offset: number;
  readonly lost: HeaderFacts;
  /** A readable header behind entries. */
  readonly later: JsonObject | undefined;
  readonly form: EntryForm;
  readonly firstTimestamp: string | undefined;
  /** The working directory that the first entry of an imported session names. */
  readonly firstCwd: string | undefined;
  readonly cwd: string | undefined;
  readonly newId: () => string;
  readonly newTimestamp: string;
}

/** The step that adds the header, with the source of each value. */
export function rebuiltHeader(evidence: HeaderEvidence): HeaderStep {
  const { lost, form } = evidence;
  const later = laterFacts(evidence.later);
  const named = factsOfName(evidence.path);
  const sources: Record<string, HeaderSource> = {};
  const first = <T>(
    key: keyof HeaderFacts,
    candidates: readonly (readonly [HeaderSource, T | undefined])[],
  ): T | undefined => {
    const found = candidates.find(([, value]) => value !== undefined);
    if (found !== undefined) sources[key] = found[0];
    return found?.[1];
  };
  const version = first("version", [
    ["damaged header", lost.version],
    ["later header", later.version],
    ["entries", form === 1 ? undefined : form],
  ]);
  const id = first("id", [
    ["damaged header", lost.id],
    ["later header", later.id],
    ["file name", named.id],
  ]);
  const ownId = id ?? first("id", [["new", evidence.newId()]]) ?? "";
  const timestamp = first("timestamp", [
    ["damaged header", lost.timestamp],
    ["later header", later.timestamp],
    ["file name", named.timestamp],
    ["first entry", evidence.firstTimestamp],
    ["new", evidence.newTimestamp],
  ]);
  const cwd = first("cwd", [
    ["option", evidence.cwd],
    ["damaged header", lost.cwd],
    ["later header", later.cwd],
    ["first entry", evidence.firstCwd],
    ["unknown", ""],
  ]);
  const parentSession = first("parentSession", [
    ["damaged header", lost.parentSession],
    ["later header", later.parentSession],
  ]);
  const header = {
    type: "session" as const,
    ...(version === undefined ? {} : { version }),
    id: ownId,
    timestamp: timestamp ?? "",
    cwd: cwd ?? "",
    ...(parentSession === undefined ? {} : { parentSession }),
  };
  return { kind: "header", offset: evidence.offset, header, sources };
}

function laterFacts(header: JsonObject | undefined): HeaderFacts {
  if (header === undefined) return {};
  const { version, id, timestamp, cwd, parentSession } = header;
  return {
    ...(typeof version === "number" ? { version } : {}),
    ...(typeof id === "string" ? { id } : {}),
    ...(typeof timestamp === "string" ? { timestamp } : {}),
    ...(typeof cwd === "string" ? { cwd } : {}),
    ...(typeof parentSession === "string" ? { parentSession } : {}),
  };
}

const sessionFileName = /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})-(\d{3})Z_(.+)\.jsonl$/;

function factsOfName(path: string): HeaderFacts {
  const match = sessionFileName.exec(basename(path));
  if (match === null) return {};
  const [, day, hours, minutes, seconds, milliseconds, id = ""] = match;
  const timestamp = `${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`;
  return isValidSessionId(id) ? { id, timestamp } : { timestamp };
}
