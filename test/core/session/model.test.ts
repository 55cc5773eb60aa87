/**
 * Random histories of two sessions and a program that appends by itself, compared step by step with
 * a model that is too simple to be wrong.
 */
import { setImmediate as nextIteration } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { AppendOptions, EntryDraft, Session } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { idsOf as idsIn } from "../../support/collected.ts";
import { reproducible } from "../../support/reproducible-ports.ts";
import { NaiveLog } from "./naive-log.ts";
import type { NaiveRow } from "./naive-log.ts";
import { appendTo } from "../../support/append-to.ts";

const stamp = "2026-01-01T00:00:00.000Z";

/** One step: what, and three numbers that choose among what there is. */
type Move = readonly [kind: number, a: number, b: number, c: number];

interface Actor {
  session: Session;
  isFollowing: boolean;
  leaf: string | null;
  /** Rows at the last own append or opening, and at the last look. */
  ownRows: number;
  seenRows: number;
}

class World {
  readonly fs = new MemoryFileSystem();
  readonly ports = createMemoryPorts({ ...reproducible(), fs: this.fs });
  readonly log = new NaiveLog();
  readonly actors: Actor[] = [];
  path = "";
  #count = 0;

  async start(): Promise<void> {
    const first = await createSession("/s.jsonl", { ports: this.ports, cwd: "/w" });
    this.path = first.path;
    this.actors.push(this.#actor(first), this.#actor(await this.#reopened()));
  }

  async play([kind, a, b, c]: Move): Promise<void> {
    const actor = this.actors[a % 2];
    if (actor === undefined) throw new Error("no such actor");
    if (kind < 40) await this.#append(actor, b, c);
    else if (kind < 65) await this.#foreign(a, b, c);
    else if (kind < 75) await this.#move(actor, b);
    else if (kind < 80) await this.#follow(actor);
    else if (kind < 90) await this.#refresh(actor);
    else Object.assign(actor, this.#actor(await this.#reopened()));
  }

  /** Everything a session can say, once it has read on. */
  async check(actor: Actor, number: number): Promise<void> {
    await this.#refresh(actor);
    const { session } = actor;
    const { log } = this;
    expect(session.leaf).toBe(actor.leaf);
    expect(session.tail).toBe(log.tail);
    expect(session.revision).toBe(log.revision);
    expect(idsOf(session.tips())).toEqual(log.tips);
    expect(session.name).toBe(log.name);
    const labels = [...session.labels].map(([id, { label }]) => [id, label]);
    expect(new Map(labels as [string, string][])).toEqual(log.labels);
    expect(idsOf(await session.branch())).toEqual(idsOf(log.path(actor.leaf)));
    // Reading everything finds the damage below other entries, which was not searched before.
    const counted = log.rows.slice(0, log.revision);
    const readable = counted.filter((row) => row.isDamaged !== true);
    expect(await idsIn(session.entries())).toEqual(readable.map(({ id }) => id));
    expect(idsOf(session.tips())).toEqual(log.tips);
    for (const id of [null, ...log.nodes.map((row) => row.id), "nobody"]) {
      expect(idsOf(session.children(id))).toEqual(log.children(id));
      expect(idsOf(await session.branch(id))).toEqual(idsOf(log.path(id)));
    }
    await checkQueries(session, log, number);
    const said = log.path(actor.leaf).filter(({ type }) => type === "message");
    const { messages } = await session.context();
    expect(messages.map((message) => ("content" in message ? message.content : ""))).toEqual(
      said.map(({ text }) => text),
    );
  }

  #actor(session: Session): Actor {
    const { tail, rows } = this.log;
    const known = rows.length;
    return { session, isFollowing: true, leaf: tail, ownRows: known, seenRows: known };
  }

  #reopened(): Promise<Session> {
    return openSession(this.path, { ports: this.ports });
  }

  async #append(actor: Actor, b: number, c: number): Promise<void> {
    const { log } = this;
    const draft = this.#draft(b);
    const options = this.#options(b, c);
    const { length } = log.rows;
    const appended = actor.session.append(draft, options);
    const { expectedTail, onDiverged } = options;
    if (expectedTail !== undefined && expectedTail !== log.tail) {
      await expect(appended).rejects.toMatchObject({ code: "ERR_CONFLICT", tail: log.tail });
      return;
    }
    if (onDiverged === "reject" && length > actor.seenRows) {
      await expect(appended).rejects.toMatchObject({ code: "ERR_DIVERGED", tail: log.tail });
      return;
    }
    const isFollowing = onDiverged === "follow" && length > actor.seenRows;
    const leaf = isFollowing ? log.tail : actor.leaf;
    const { id, parentId, revision } = await appended;
    const isMetadata = draft.type === "label" || draft.type === "session_info";
    const isAtLeaf = options.parent === undefined || options.parent === "leaf";
    const isAside = isMetadata && isAtLeaf && length > actor.ownRows && leaf !== log.tail;
    expect(parentId).toBe(isAside ? log.tail : parentFor(options.parent, leaf, log.tail));
    log.isPending = false;
    log.rows.push({ ...rowOf(draft), id, parentId });
    expect(revision).toBe(log.rows.length);
    Object.assign(actor, { isFollowing: false, leaf: isAside ? leaf : id });
    // Next to its leaf: what others appended there is as unread as before.
    if (!isAside) actor.ownRows = actor.seenRows = log.rows.length;
    else if (actor.seenRows === log.rows.length - 1) actor.seenRows += 1;
  }

  #draft(b: number): EntryDraft {
    const text = `says ${(this.#count += 1)}`;
    const target = this.#someId(b);
    if (b % 5 === 0 && target !== undefined)
      return { type: "label", targetId: target, label: b % 2 === 0 ? text : "" };
    if (b % 5 === 1) return { type: "session_info", name: text };
    if (b % 5 === 2) return { type: "custom", customType: `kind ${b % 3}`, data: text };
    return { type: "message", message: { role: "user", content: text, timestamp: 1 } };
  }

  #options(b: number, c: number): AppendOptions {
    const named = this.#someId(b);
    return {
      ...(c % 7 === 1 ? { parent: "tail" } : {}),
      ...(c % 7 === 2 && named !== undefined ? { parent: { id: named } } : {}),
      ...(c % 7 === 3 ? { parent: { id: null } } : {}),
      ...(c % 5 === 1 ? { onDiverged: "follow" } : {}),
      ...(c % 5 === 2 ? { onDiverged: "reject" } : {}),
      ...(c % 11 === 1 ? { expectedTail: this.log.tail } : {}),
      ...(c % 11 === 2 ? { expectedTail: named ?? null } : {}),
    };
  }

  /**
   * Bytes of a program that uses no lock, follows no rules, and whose writes are sometimes
   * truncated.
   */
  async #foreign(a: number, b: number, c: number): Promise<void> {
    const { log } = this;
    // It comes in while the event loop runs: what a kept lock hides is tested elsewhere.
    await nextIteration();
    const parentId = c % 9 === 0 ? `later ${c % 3}` : (this.#someId(b) ?? null);
    const later = `later ${b % 3}`;
    const id = a % 6 === 0 ? later : `foreign ${(this.#count += 1)}`;
    const known = this.#someId(a);
    if (log.isPending) this.#write("\n");
    log.isPending = false;
    if (a % 7 === 1 && known !== undefined) return this.#torn(known, log.holder(known)?.parentId);
    if (a % 7 === 2) return this.#torn(id === later ? "torn" : id, this.#someId(b));
    if (a % 7 === 3) return this.#write("no JSON\n\n[1]\n\r\n{}\n");
    const again = a % 7 === 4 && known !== undefined ? log.holder(known) : undefined;
    const text = `foreign ${c}`;
    const any = c % 4 === 0 ? log.rows[b % Math.max(1, log.rows.length)]?.id : undefined;
    const above = id === later ? parentId : (any ?? parentId);
    const row = { id: again?.id ?? id, parentId: again === undefined ? above : again.parentId };
    const message = { role: "user", content: text, timestamp: 1 };
    const line = { type: "message", ...row, timestamp: stamp, message };
    log.isPending = c % 6 === 0;
    log.rows.push({ ...row, type: "message", text });
    this.#write(`${JSON.stringify(line)}${log.isPending ? "" : c % 2 === 0 ? "\r\n" : "\n"}`);
  }

  /** A line that looks like a message and is none. */
  #torn(id: string, parentId: string | null = null): void {
    const envelope = JSON.stringify({ type: "message", id, parentId, timestamp: stamp });
    this.log.rows.push({ id, parentId, type: "message", isDamaged: true });
    this.#write(`${envelope.slice(0, -1)},"message":{"role":"user","content":[{"a":{"b":1}}\n`);
  }

  #write(text: string): void {
    appendTo(this.fs, this.path, text);
  }

  async #move(actor: Actor, b: number): Promise<void> {
    await this.#refresh(actor);
    const nodes = this.log.nodes.map(({ id }) => id);
    const id = nodes[b % (nodes.length + 1)] ?? null;
    await actor.session.moveTo(id);
    Object.assign(actor, { isFollowing: false, leaf: id, seenRows: this.log.rows.length });
  }

  async #follow(actor: Actor): Promise<void> {
    await this.#refresh(actor);
    await actor.session.follow();
    Object.assign(actor, { isFollowing: true, leaf: this.log.tail });
  }

  async #refresh(actor: Actor): Promise<void> {
    await actor.session.refresh();
    actor.seenRows = this.log.rows.length;
    if (actor.isFollowing) actor.leaf = this.log.tail;
  }

  #someId(n: number): string | undefined {
    const ids = this.log.nodes.map(({ id }) => id);
    return ids.length === 0 ? undefined : ids[n % ids.length];
  }
}

async function checkQueries(session: Session, log: NaiveLog, n: number): Promise<void> {
  const counted = log.rows.slice(0, log.revision);
  const from = 1 + (n % (log.revision + 1));
  const late = counted.slice(from - 1).filter((row) => row.isDamaged !== true);
  const backwards = late.map(({ id }) => id).reverse();
  expect(await idsIn(session.entries({ from, reverse: true }))).toEqual(backwards);
  for (const type of ["message", "label", "custom"]) {
    const wanted = late.filter((row) => row.type === type).map(({ id }) => id);
    expect(await idsIn(session.entries({ from, type }))).toEqual(wanted);
  }
  const path = log.path(session.leaf).filter(({ customType }) => customType === "kind 1");
  const query = { customType: "kind 1", on: "branch" } as const;
  expect(await idsIn(session.entries(query))).toEqual(idsOf(path));
}

function parentFor(
  parent: AppendOptions["parent"],
  leaf: string | null,
  tail: string | null,
): string | null {
  if (typeof parent === "object") return parent.id;
  return parent === "tail" ? tail : leaf;
}

function rowOf(draft: EntryDraft): Omit<NaiveRow, "id" | "parentId"> {
  const { type } = draft;
  const { message, label, name, targetId, customType } = draft as {
    readonly [key: string]: unknown;
  };
  const said = (message as { readonly content?: string } | undefined)?.content;
  const text = said ?? label ?? name;
  return {
    type,
    ...(typeof text === "string" ? { text } : {}),
    ...(typeof targetId === "string" ? { targetId } : {}),
    ...(typeof customType === "string" ? { customType } : {}),
  };
}

function idsOf(entries: readonly { readonly id: string }[]): string[] {
  return entries.map(({ id }) => id);
}

/** That a history, and what each actor sees after it, is as the model has it. */
async function checkHistory(history: readonly Move[]): Promise<void> {
  const world = new World();
  await world.start();
  for (const [at, move] of history.entries()) {
    await world.play(move);
    const actor = world.actors[at % 5];
    if (actor !== undefined) await world.check(actor, move[2]);
  }
  for (const actor of world.actors) await world.check(actor, history.length);
}

describe("a session and its model", () => {
  it("agree that an entry made its own ancestor by damage is a tip", () =>
    checkHistory([
      [40, 114, 0, 0],
      [40, 711, 0, 0],
      [40, 72, 0, 0],
      [90, 0, 0, 0],
    ]));

  it("agree after every step of random histories (Verifies: P1, P10, P15)", async () => {
    const moves = fc.array(fc.tuple(fc.nat(99), fc.nat(999), fc.nat(999), fc.nat(999)), {
      maxLength: 40,
      size: "max",
    });
    await fc.assert(fc.asyncProperty(moves, checkHistory), {
      numRuns: Number(process.env["BRANCHLOG_HISTORIES"] ?? 100),
    });
  });
});
