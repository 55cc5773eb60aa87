/**
 * A process that carries out session scripts with one build: its argument is the checkout. Clock
 * and ids are the same in every process, so equal builds leave equal bytes.
 */
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { idsOf } from "../support/collected.ts";
import { builtModule } from "./other-build.ts";
import { answersOf, outcomeOf } from "./session-answers.ts";
import type { ComparedSession, Verify } from "./session-answers.ts";
import type { Draft, SessionScript, SessionStep } from "./session-script.ts";

interface NumberedScript {
  readonly number: number;
  readonly script: SessionScript;
}

type Start = (path: string, options: object) => Promise<ComparedSession>;

interface Tools {
  readonly verifySession: Verify;
}

interface Core {
  readonly openSession: Start;
  readonly createSession: Start;
}

interface Build extends Core {
  readonly verify: Verify;
}

interface Testing {
  readonly ManualClock: new (epochMs: number) => { advance(ms: number): void; now(): number };
  createSeededIds(seed: number, clock: object): object;
}

const startMs = Date.UTC(2026, 0, 1);

class Run {
  readonly #build: Build;
  readonly #options: object;
  readonly #path: string;
  #session: ComparedSession | undefined;

  constructor(build: Build, testing: Testing, path: string) {
    this.#build = build;
    this.#path = path;
    const clock = new testing.ManualClock(startMs);
    const ports = { clock, ids: testing.createSeededIds(1, clock) };
    this.#options = { ports, checkpointEveryBytes: 0 };
  }

  /** Creates the session, or opens what is stored. */
  begin(stored: string | undefined): Promise<unknown> {
    if (stored === undefined) return this.#start(this.#build.createSession, { cwd: "/w" });
    writeFileSync(this.#path, stored);
    return this.#start(this.#build.openSession);
  }

  async step(step: SessionStep): Promise<unknown> {
    const session = this.#session;
    if (session === undefined) return "closed";
    switch (step.do) {
      case "append":
        return outcomeOf(() => this.#append(session, step));
      case "bytes":
        appendFileSync(this.#path, step.text);
        return undefined;
      case "move": {
        const id = step.to === null ? null : await this.#id(session, step.to);
        return outcomeOf(() => session.moveTo(id, { persist: step.persist }));
      }
      case "name":
        return outcomeOf(() => session.setName(step.name));
      case "reopen":
        await session.close();
        return this.#start(this.#build.openSession);
      case "follow":
        return outcomeOf(() => session.follow());
      case "refresh":
        return outcomeOf(() => session.refresh());
      case "verify":
        return outcomeOf(() => this.#build.verify(session));
    }
  }

  /** All that is known at the end, by this session and by one that is reopened. */
  async end(): Promise<unknown> {
    if (this.#session === undefined) return undefined;
    const own = await answersOf(this.#session, this.#build.verify);
    await this.#session.close();
    // Foreign bytes after a header without a newline make a file that is not a session.
    const fresh = await outcomeOf(async () => {
      const session = await this.#build.openSession(this.#path, { access: "read" });
      const answers = await answersOf(session, this.#build.verify);
      await session.close();
      return answers;
    });
    return { own, fresh };
  }

  #start(start: Start, more: object = {}): Promise<unknown> {
    this.#session = undefined;
    return outcomeOf(async () => {
      this.#session = await start(this.#path, { ...this.#options, ...more });
    });
  }

  async #append(
    session: ComparedSession,
    { drafts, options }: Extract<SessionStep, { readonly do: "append" }>,
  ): Promise<object> {
    const { parent, expectedTail, ...rest } = options;
    const given = {
      ...rest,
      ...(typeof parent === "number" ? { parent: { id: await this.#id(session, parent) } } : {}),
      ...(typeof parent === "string" ? { parent } : {}),
      ...(expectedTail === undefined
        ? {}
        : { expectedTail: await this.#id(session, expectedTail) }),
    };
    const resolved = await Promise.all(drafts.map((draft) => this.#draft(session, draft)));
    const [first] = resolved;
    if (resolved.length === 1 && first !== undefined) return session.append(first, given);
    return session.appendAll(resolved, given);
  }

  async #draft(session: ComparedSession, draft: Draft): Promise<object> {
    const { target, kept, from, ...fields } = draft;
    const idAt = async (place: unknown): Promise<string | null> => this.#id(session, Number(place));
    return {
      ...fields,
      ...(target === undefined ? {} : { targetId: (await idAt(target)) ?? "none" }),
      ...(kept === undefined ? {} : { firstKeptEntryId: (await idAt(kept)) ?? "none" }),
      ...(from === undefined ? {} : { fromId: (await idAt(from)) ?? "root" }),
    };
  }

  async #id(session: ComparedSession, place: number): Promise<string | null> {
    const ids = await idsOf(session.entries());
    return ids[place % ids.length] ?? null;
  }
}

async function carryOut(build: Build, testing: Testing, script: SessionScript): Promise<object> {
  const root = mkdtempSync(join(tmpdir(), "branchlog-build-"));
  try {
    const run = new Run(build, testing, join(root, "s.jsonl"));
    const begun = await run.begin(script.stored);
    const steps: unknown[] = [];
    for (const step of script.steps) steps.push(await run.step(step));
    const end = await run.end();
    const files = readdirSync(root).filter((name) => !name.endsWith(".ckpt"));
    const bytes = files.map((name) => [name, readFileSync(join(root, name), "latin1")]);
    // The folder is another one in each process.
    return JSON.parse(
      JSON.stringify({ begun, steps, end, bytes }).replaceAll(root, "ROOT"),
    ) as object;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function load<Module>(checkout: string, name: string): Promise<Module> {
  const found = builtModule(checkout, name);
  if (found === undefined) throw new Error(`${checkout} has no ${name}`);
  // Decoding boundary: a build of another time.
  return (await import(pathToFileURL(found).href)) as Module;
}

async function main(): Promise<void> {
  const [, , checkout = ""] = process.argv;
  const { openSession, createSession } = await load<Core>(checkout, "branchlog");
  const { verifySession: verify } = await load<Tools>(checkout, "branchlog/tools");
  const build = { openSession, createSession, verify };
  const testing = await load<Testing>(checkout, "branchlog/testing");
  process.on("message", ({ number, script }: NumberedScript) => {
    void carryOut(build, testing, script).then(
      (report) => process.send?.({ number, report }),
      (error: unknown) => process.send?.({ number, failure: String((error as Error).stack) }),
    );
  });
  process.send?.("ready");
}

await main();
