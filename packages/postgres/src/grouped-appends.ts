/**
 * Appends to different logs in one statement, once a program has several under way: a statement for
 * each would spend most of its time on the way. A group only takes logs that end where its appends
 * expect it, and that nobody else holds, so that it waits for nobody; the others continue alone.
 */
import { isBranchlogError } from "@branchlog/core";
import type { QueryOptions } from "./connections.ts";

/** The arguments of an append function; bigint as text. */
export interface AppendCall {
  readonly log: string;
  readonly at: number;
  readonly mark: string | null;
  readonly text: string | null;
  readonly raw: Buffer | null;
}

/** Of the schema, which is prepared. */
export type AppendQuery = <Row extends object>(
  text: string,
  values: readonly unknown[],
  options: QueryOptions,
) => Promise<readonly Row[]>;

/** So many appends are sent at once as they are: a few are no load, and wait for nothing. */
const aloneMax = 4;
/** One is carried out by the server while the next is made. */
const groupsMax = 2;
const groupedMax = 64;
/** Longer ones spend their time on themselves. */
const groupedCharactersMax = 16 * 1024;

interface WaitingCall {
  readonly call: AppendCall;
  readonly resolve: (answer: Promise<string>) => void;
}

export class GroupedAppends {
  readonly #query: AppendQuery;
  readonly #synced: boolean;
  #alone = 0;
  #groups = 0;
  #waiting: WaitingCall[] = [];

  /** @param synced Whether they wait for the disk. */
  constructor(query: AppendQuery, synced: boolean) {
    this.#query = query;
    this.#synced = synced;
  }

  /** The answer of the append function of the schema. Rejects like a commit. */
  append(call: AppendCall): Promise<string> {
    const isLong = call.text === null || call.text.length > groupedCharactersMax;
    if (isLong || (this.#groups === 0 && this.#alone < aloneMax)) return this.#appendAlone(call);
    return new Promise((resolve) => {
      this.#waiting.push({ call, resolve });
      if (this.#groups < groupsMax) void this.#appendGroups();
    });
  }

  async #appendAlone({ log, at, mark, text, raw }: AppendCall): Promise<string> {
    this.#alone += 1;
    try {
      const [row] = await this.#query<{ readonly answer: string }>(
        "SELECT SCHEMA.append($1, $2, $3, $4, $5, $6) AS answer",
        [log, at, mark, text, raw, this.#synced],
        { isCommit: true },
      );
      if (row === undefined) throw new Error("an append without an answer");
      return row.answer;
    } finally {
      this.#alone -= 1;
    }
  }

  async #appendGroups(): Promise<void> {
    this.#groups += 1;
    for (let group = this.#nextGroup(); group.length > 0; group = this.#nextGroup()) {
      const marks = this.#appendGroup(group.map(({ call }) => call));
      for (const [place, { call, resolve }] of group.entries()) {
        resolve(marks.then((found) => found?.[place] ?? this.#appendAlone(call)));
      }
      await marks.catch(() => undefined);
    }
    this.#groups -= 1;
  }

  /** The appends that came first, one for each log. */
  #nextGroup(): readonly WaitingCall[] {
    const logs = new Set<string>();
    const group: WaitingCall[] = [];
    const later: WaitingCall[] = [];
    for (const waiting of this.#waiting) {
      const isIn = group.length < groupedMax && !logs.has(waiting.call.log);
      (isIn ? group : later).push(waiting);
      logs.add(waiting.call.log);
    }
    this.#waiting = later;
    return group;
  }

  /** The marks of those that were appended. Undefined: none was, as the server refused one. */
  async #appendGroup(
    calls: readonly AppendCall[],
  ): Promise<readonly (string | null)[] | undefined> {
    const [row] = await this.#query<{ readonly marks: readonly (string | null)[] }>(
      "SELECT SCHEMA.append_each($1, $2, $3, $4, $5) AS marks",
      [
        calls.map(({ log }) => log),
        calls.map(({ at }) => at),
        calls.map(({ mark }) => mark),
        calls.map(({ text }) => text),
        this.#synced,
      ],
      { isCommit: true },
    ).catch((error: unknown) => {
      // Alone, each of them reports its own error.
      if (isBranchlogError(error, "ERR_STORE_REFUSED")) return [];
      throw error;
    });
    return row?.marks;
  }
}
