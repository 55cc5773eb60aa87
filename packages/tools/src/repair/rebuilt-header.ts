/** Rebuilds a missing header from its remains, a later header, the file name and the entries. */
import { basename } from "node:path";
import type { JsonObject } from "@branchlog/streaming";
import { isValidSessionId } from "@branchlog/core/rows";
import type { EntryForm } from "@branchlog/core/rows";
import type { HeaderFacts } from "./record-facts.ts";
import type { HeaderSource, HeaderStep } from "./repair-plan.ts";

export interface HeaderEvidence {
  readonly path: string;
  readonly offset: number;
  readonly lost: HeaderFacts;
  readonly later: JsonObject | undefined;
  readonly form: EntryForm;
  readonly firstTimestamp: string | undefined;
  readonly firstCwd: string | undefined;
  readonly cwd: string | undefined;
  readonly newId: () => string;
  readonly newTimestamp: string;
}

export function rebuiltHeader(evidence: HeaderEvidence): HeaderStep {
  const { form, cwd: givenCwd } = evidence;
  const said: readonly (readonly [HeaderSource, HeaderFacts])[] = [
    ["option", givenCwd === undefined ? {} : { cwd: givenCwd }],
    ["damaged header", evidence.lost],
    ["later header", laterFacts(evidence.later)],
    ["file name", factsOfName(evidence.path)],
  ];
  const sources: Record<string, HeaderSource> = {};
  const first = <K extends keyof HeaderFacts>(
    key: K,
    ...others: readonly (readonly [HeaderSource, HeaderFacts[K] | undefined])[]
  ): HeaderFacts[K] | undefined => {
    const candidates = said.map(([source, facts]) => [source, facts[key]] as const);
    const found = [...candidates, ...others].find(([, value]) => value !== undefined);
    if (found !== undefined) sources[key] = found[0];
    return found?.[1];
  };
  const version = first("version", ["entries", form === 1 ? undefined : form]);
  const ownId = first("id") ?? first("id", ["new", evidence.newId()]) ?? "";
  const { firstTimestamp, newTimestamp, firstCwd } = evidence;
  const timestamp = first("timestamp", ["first entry", firstTimestamp], ["new", newTimestamp]);
  const cwd = first("cwd", ["first entry", firstCwd], ["unknown", ""]);
  const parentSession = first("parentSession");
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
