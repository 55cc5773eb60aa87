/**
 * Opens sessions for the tools, and replaces the secrets in what they show. A session is read for
 * its secrets once, and then only where it grew; texts are searched whole, before anything is cut.
 */
import { openSession } from "@branchlog/core";
import type { Session, SessionEntry } from "@branchlog/core";
import type { ListedSession } from "@branchlog/library";
import { SideTexts } from "@branchlog/library/catalogs";
import { Redactor } from "@branchlog/tools";
import { isBranchlogError } from "@branchlog/core";
import type { SessionScope } from "./session-scope.ts";
import { ToolError } from "./tool-error.ts";

/** Of a larger session, secrets are learned from what is shown: all of it would take seconds. */
const learnedBytesMax = 16 * 1024 * 1024;

/** Sessions whose secrets are remembered. */
const knownMax = 16;

export interface OpenedRead {
  readonly session: Session;
  /** Without secrets, and with the full texts of files next to the session. */
  readonly entry: (stored: SessionEntry) => SessionEntry;
  /** A message of a context. */
  readonly message: (stored: object) => object;
  readonly text: (stored: string) => string;
}

interface Known {
  readonly id: string;
  readonly redactor: Redactor;
  /** Entries up to this one were read. */
  revision: number;
}

export class SessionReader {
  readonly #scope: SessionScope;
  readonly #redacts: boolean;
  /** By path; the last read one is the last. */
  readonly #known = new Map<string, Known>();

  constructor(scope: SessionScope, redacts: boolean) {
    this.#scope = scope;
    this.#redacts = redacts;
  }

  /** A text that is of no opened session. */
  text(stored: string): string {
    if (!this.#redacts) return stored;
    try {
      return new Redactor("a session").text(stored);
    } catch (error) {
      return unsearchable(error);
    }
  }

  /**
   * The session is closed afterwards.
   * @throws ToolError, BranchlogError as `openSession`.
   */
  async read<T>(
    { path }: Pick<ListedSession, "path">,
    signal: AbortSignal,
    work: (opened: OpenedRead) => Promise<T>,
  ): Promise<T> {
    const session = await openSession(path, { access: "read", signal });
    try {
      // Decoding boundary: of the header only the id was checked.
      const cwd: unknown = session.header.cwd;
      // Another file may have got its place since the list.
      if (!this.#scope.includes(typeof cwd === "string" ? cwd : "")) throw gone();
      const sides = new SideTexts(path, session.transcriptOf);
      const inWhole = (stored: SessionEntry): SessionEntry => sides.inWhole(stored);
      if (!this.#redacts) {
        const same = <V>(value: V): V => value;
        return await work({ session, entry: inWhole, message: same, text: same });
      }
      const redactor = await this.#learned(session, inWhole, signal);
      const clean = <V extends object>(value: V, instead: (reason: string) => V): V => {
        try {
          return cleanValue(redactor, value, session.sizeBytes > learnedBytesMax);
        } catch (error) {
          return instead(unsearchable(error));
        }
      };
      return await work({
        session,
        entry: (stored) => clean(inWhole(stored), (reason) => withoutContent(stored, reason)),
        message: (stored) => clean(stored, (content) => ({ role: "unknown", content })),
        text: (stored) => {
          try {
            return redactor.text(stored);
          } catch (error) {
            return unsearchable(error);
          }
        },
      });
    } finally {
      await session.close();
    }
  }

  async #learned(
    session: Session,
    inWhole: (stored: SessionEntry) => SessionEntry,
    signal: AbortSignal,
  ): Promise<Redactor> {
    const { path, header, revision, sizeBytes } = session;
    const before = this.#known.get(path);
    const isSame = before !== undefined && before.id === header.id && before.revision <= revision;
    const known = isSame ? before : { id: header.id, redactor: new Redactor(path), revision: 0 };
    this.#known.delete(path);
    const { redactor } = known;
    const learn = (value: object): void => {
      try {
        redactor.json(JSON.stringify(value));
      } catch (error) {
        // It is omitted where it would be shown.
        unsearchable(error);
      }
    };
    if (sizeBytes <= learnedBytesMax && known.revision < revision) {
      learn({ ...header, name: session.name });
      const entries = session.entries({ from: known.revision + 1, signal });
      for await (const entry of entries) learn(inWhole(entry));
      known.revision = revision;
    }
    redactor.endLearning();
    this.#known.set(path, known);
    for (const first of this.#known.keys()) {
      if (this.#known.size <= knownMax) break;
      this.#known.delete(first);
    }
    return redactor;
  }
}

function cleanValue<V extends object>(redactor: Redactor, value: V, learns: boolean): V {
  const json = JSON.stringify(value);
  let clean = redactor.json(json);
  if (learns) {
    redactor.endLearning();
    clean = redactor.json(json);
  }
  // Decoding boundary: the same value, of which only strings may differ.
  return clean === json ? value : (JSON.parse(clean) as V);
}

/** Throws all other errors. */
function unsearchable(error: unknown): string {
  if (isBranchlogError(error, "ERR_REDACTION_FAILED")) {
    return "[omitted: it cannot be searched for secrets]";
  }
  throw error;
}

function withoutContent({ id, parentId, timestamp }: SessionEntry, content: string): SessionEntry {
  return {
    type: "custom_message",
    id,
    parentId,
    timestamp,
    customType: "",
    content,
    display: true,
  };
}

function gone(): ToolError {
  return new ToolError("This session no longer exists. Call list_sessions for existing sessions.");
}
