/** Gathers from the records of a source what the header of its log needs: id, directory, start. */
import type { JsonObject } from "@branchlog/streaming";
import type { SourceKind } from "@branchlog/core/types";
import { isValidSessionId, objectAt, stringAt, timeAt } from "@branchlog/core/internal";

/** What is known of a source from its beginning. */
export interface SourceFacts {
  readonly kind: SourceKind;
  /** The id of the session in its agent; undefined if no record says it. */
  readonly sourceId: string | undefined;
  /** The working directory of the session; empty if no record says it. */
  readonly cwd: string;
  /** The first time in the source; the epoch if there is none. */
  readonly started: string;
  /** The version of the agent. */
  readonly agentVersion: string | undefined;
  /** What else the agent noted about the session. */
  readonly meta: JsonObject | undefined;
}

/** Gathers facts, record by record, until all are known. */
export class FactsGatherer {
  readonly kind: SourceKind;
  #sourceId: string | undefined;
  #cwd: string | undefined;
  #started: string | undefined;
  #agentVersion: string | undefined;
  #meta: JsonObject | undefined;

  constructor(kind: SourceKind) {
    this.kind = kind;
  }

  /** Whether nothing is left to look for. */
  get isComplete(): boolean {
    return [this.#sourceId, this.#cwd, this.#started].every((fact) => fact !== undefined);
  }

  add(record: JsonObject): void {
    this.#started ??= timeAt(record, "timestamp");
    if (this.kind === "claude") this.#addClaude(record);
    else this.#addCodex(record);
  }

  facts(): SourceFacts {
    const sourceId = this.#sourceId;
    const agentVersion = this.#agentVersion;
    const started = this.#started ?? new Date(0).toISOString();
    return {
      kind: this.kind,
      sourceId,
      cwd: this.#cwd ?? "",
      started,
      agentVersion,
      meta: this.#meta,
    };
  }

  #addClaude(record: JsonObject): void {
    this.#sourceId ??= claudeId(record);
    this.#cwd ??= stringAt(record, "cwd");
    this.#agentVersion ??= stringAt(record, "version");
    const gitBranch = stringAt(record, "gitBranch");
    if (gitBranch !== undefined && gitBranch !== "") this.#meta ??= { gitBranch };
  }

  #addCodex(record: JsonObject): void {
    const payload = objectAt(record, "payload");
    const type = stringAt(record, "type");
    if (type === "session_meta" && this.#meta === undefined) {
      this.#meta = payload;
      this.#sourceId ??= stringAt(payload, "id");
      this.#agentVersion ??= stringAt(payload, "cli_version");
    }
    if (type === "session_meta" || type === "turn_context") this.#cwd ??= stringAt(payload, "cwd");
  }
}

/** The transcript of a sub-agent has the id of its session; its own is added. */
function claudeId(record: JsonObject): string | undefined {
  const sessionId = stringAt(record, "sessionId");
  const agentId = stringAt(record, "agentId");
  if (sessionId === undefined || record["isSidechain"] !== true || agentId === undefined) {
    return sessionId;
  }
  return `${sessionId}.${agentId}`;
}

const uuidAtEnd = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The id of the new session: that of the source, where it may be one; else the id in the name of
 * its file; else the name, or what is left of it. Claude Code names a file after its session, and
 * the records of a session that it goes on from keep the id of that one: there the name is first.
 */
export function sessionIdFor({ kind, sourceId }: SourceFacts, fileName: string): string {
  const name = fileName.replace(/\.jsonl$/, "");
  const uuid = uuidAtEnd.exec(name)?.[0];
  const named = kind === "claude" && uuid === name ? uuid : undefined;
  const found = [named, sourceId, uuid, name].find(
    (id) => id !== undefined && isValidSessionId(id),
  );
  return found ?? `imported${name.replaceAll(/[^A-Za-z0-9]/g, "")}`;
}
