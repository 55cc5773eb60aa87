/**
 * A header for a log that has none in front of its entries, put together from what its remains, a
 * later header, the file name and the entries say. Pure. What nothing says is left as readers take
 * it when it is missing: an empty `cwd` means wherever the agent is started.
 */
import { basename } from "node:path";
import type { JsonObject } from "@branchlog/streaming";
import { isValidSessionId } from "@branchlog/core/internal";
import type { EntryForm } from "@branchlog/core/internal";
import type { HeaderFacts } from "./record-facts.ts";
import type { HeaderSource, HeaderStep } from "./repair-plan.ts";

/** What there is to make a header from. */
export interface HeaderEvidence {
  readonly path: string;
  readonly offset: number;
  /** The remains of the header. */
  readonly lost: HeaderFacts;
  /** A readable header that stands behind entries. */
  readonly later: JsonObject | undefined;
  readonly form: EntryForm;
  readonly firstTimestamp: string | undefined;
  /** The working directory that the caller gives. */
  readonly cwd: string | undefined;
  /** An id and a time for a log that says neither. */
  readonly newId: () => string;
  readonly newTimestamp: string;
}

/** The step that adds the header, with the source of each of its values. */
export function rebuiltHeader(evidence: HeaderEvidence): HeaderStep {
  const { lost, form } = evidence;
  const later = laterFacts(evidence.later);
  const named = factsOfName(evidence.path);
  const id =
    from("damaged header", lost.id) ??
    from("later header", later.id) ??
    from("file name", named.id) ??
    from("new", evidence.newId());
  const timestamp =
    from("damaged header", lost.timestamp) ??
    from("later header", later.timestamp) ??
    from("file name", named.timestamp) ??
    from("first entry", evidence.firstTimestamp) ??
    from("new", evidence.newTimestamp);
  const version =
    from("damaged header", lost.version) ??
    from("later header", later.version) ??
    from("entries", form === 1 ? undefined : form);
  const cwd =
    from("option", evidence.cwd) ??
    from("damaged header", lost.cwd) ??
    from("later header", later.cwd) ??
    from("new", "");
  const parentSession =
    from("damaged header", lost.parentSession) ?? from("later header", later.parentSession);
  const found = { version, id, timestamp, cwd, parentSession };
  return { kind: "header", offset: evidence.offset, ...headerOf(found) };
}

/** A value and where it is from. */
interface Found<T> {
  readonly value: T;
  readonly source: HeaderSource;
}

function from<T>(source: HeaderSource, value: T): Found<NonNullable<T>> | undefined {
  return value === undefined || value === null ? undefined : { value, source };
}

function headerOf(found: {
  readonly version: Found<number> | undefined;
  readonly id: Found<string> | undefined;
  readonly timestamp: Found<string> | undefined;
  readonly cwd: Found<string> | undefined;
  readonly parentSession: Found<string> | undefined;
}): Pick<HeaderStep, "header" | "sources"> {
  const { version, id, timestamp, cwd, parentSession } = found;
  const sources: Record<string, HeaderSource> = {};
  for (const [key, value] of Object.entries(found)) {
    if (value !== undefined) sources[key] = value.source;
  }
  return {
    header: {
      type: "session",
      ...(version === undefined ? {} : { version: version.value }),
      id: id?.value ?? "",
      timestamp: timestamp?.value ?? "",
      cwd: cwd?.value ?? "",
      ...(parentSession === undefined ? {} : { parentSession: parentSession.value }),
    },
    sources,
  };
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

/** What the name that agents give to session files says. */
function factsOfName(path: string): HeaderFacts {
  const match = sessionFileName.exec(basename(path));
  if (match === null) return {};
  const [, day, hours, minutes, seconds, milliseconds, id = ""] = match;
  const timestamp = `${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`;
  return isValidSessionId(id) ? { id, timestamp } : { timestamp };
}
