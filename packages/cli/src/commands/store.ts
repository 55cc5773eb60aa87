/** `branchlog store`: makes a database a store, and moves sessions between files and stores. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename, resolve } from "node:path";
import { BranchlogError, openSession } from "@branchlog/core";
import { agentNamed } from "@branchlog/core/rows";
import { logAddress, postgresStore, storeAddress } from "@branchlog/postgres";
import type { PostgresStore, StoredSessionFacts } from "@branchlog/postgres";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { UsageError } from "../failure.ts";
import { ProgressLine } from "../progress.ts";
import { sessionPath } from "../session-path.ts";
import { oneLine } from "../text/clean-text.ts";
import { sizeText, countText } from "../text/quantities.ts";

export interface StoreCommandOptions {
  readonly action: "init" | "ls" | "pull" | "push" | "recover" | "rm";
  /** An address; for `push`, files before it. */
  readonly places: readonly string[];
  /** Of the log that a file becomes. Default: that of the file, without `.jsonl`. */
  readonly name: string | undefined;
  readonly output: string | undefined;
  readonly yes: boolean;
  readonly json: boolean;
}

export async function storeCommand(
  options: StoreCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { action, places } = options;
  const url = places.at(-1) ?? "";
  if ((action === "push") === places.length < 2) {
    throw new UsageError(
      action === "push"
        ? "Give the files to push, then the address of the store."
        : `store ${action} takes one address.`,
    );
  }
  const store = postgresStore(url);
  try {
    await actions[action](store, url, options, io);
  } finally {
    await store.close();
  }
  return 0;
}

type Action = (
  store: PostgresStore,
  url: string,
  options: StoreCommandOptions,
  io: CommandIo,
) => Promise<void>;

const actions: Readonly<Record<StoreCommandOptions["action"], Action>> = {
  init: async (store, _url, { json }, { out }) => {
    const { from, to } = await store.migrate();
    const { address } = store;
    if (json) return writeJsonLine(out, { address, from, to });
    const done = from === to ? "is" : `was upgraded from schema version ${from} to`;
    return out.write(`${oneLine(address, 400)} ${done} ${from === to ? "at " : ""}${to}\n`);
  },

  ls: async (store, _url, { json }, { out, signal }) => {
    for await (const listed of store.list(signal)) {
      await (json ? writeJsonLine(out, listedJson(listed)) : out.write(listedText(listed)));
    }
  },

  push: async (store, url, options, io) => {
    const files = options.places.slice(0, -1);
    const given = options.name ?? storeAddress(url).name;
    if (given !== undefined && files.length > 1) {
      throw new UsageError("Several files keep their names: push a single file to rename it.");
    }
    for (const file of files) {
      const path = await sessionPath(file, io.signal);
      await push(store, path, given ?? basename(path).replace(/\.jsonl$/, ""), options, io);
    }
  },

  pull: async (store, url, { output, json }, io) => {
    if (output === undefined) throw new UsageError("Specify the output: -o FILE.");
    const { name } = logAddress(url);
    const copied = new Copied(io, `pulling ${name}`);
    await copied.line.during(() =>
      store.pull(name, resolve(output), {
        signal: io.signal,
        onBytes: (bytes, sizeBytes) => copied.add(bytes, sizeBytes),
      }),
    );
    const address = `${store.address}#${encodeURIComponent(name)}`;
    await writeCopied({ path: output, address, copied }, "pulled", json, io);
  },

  recover: async (store, url, { json }, { out, signal }) => {
    const { name } = logAddress(url);
    await using session = await openSession({ store, id: name, signal });
    const { appendedAgain } = await session.recover();
    const address = `${store.address}#${encodeURIComponent(name)}`;
    if (json) return await writeJsonLine(out, { address, appendedAgain });
    const lines = appendedAgain.map((id) => `${oneLine(id, 60)}\n`);
    const stored = `stored again ${countText(lines.length, "entry", "entries")}`;
    return await out.write(`${stored} of ${oneLine(address, 400)}\n${lines.join("")}`);
  },

  rm: async (store, url, { yes, json }, { out }) => {
    const { name } = logAddress(url);
    if (!yes)
      throw new UsageError("A session in a store is removed permanently; confirm with --yes.");
    await store.remove(name);
    const address = `${store.address}#${encodeURIComponent(name)}`;
    if (json) await writeJsonLine(out, { address, removed: true });
    else await out.write(`removed ${oneLine(address, 400)}\n`);
  },
};

async function push(
  store: PostgresStore,
  path: string,
  name: string,
  { json }: StoreCommandOptions,
  io: CommandIo,
): Promise<void> {
  // Opening reports why a file is not a session.
  const session = await openSession(path, { access: "read", signal: io.signal });
  const { sizeBytes, transcriptOf } = session;
  await session.close();
  requireLines(path, transcriptOf);
  const copied = new Copied(io, `pushing ${basename(path)}`);
  const bytes = fileBytes(path, sizeBytes, copied);
  const { address } = await copied.line.during(() => store.create(name, bytes));
  await writeCopied({ path, address, copied }, "pushed", json, io);
}

/** A store holds lines: nothing could read a document in it. */
function requireLines(path: string, agent: string | undefined): void {
  const { documents } = agentNamed(agent ?? "") ?? {};
  if (documents === undefined) return;
  const message =
    `${path} is ${documents.noun}, not a JSON Lines session. Convert it with branchlog import ` +
    "FILE -o NEW, and push the result.";
  throw new BranchlogError("ERR_NOT_A_SESSION", message, { path });
}

/**
 * Opens the file when the first piece is requested, so that a failing store leaves no stream open.
 * Later appends are not part of it.
 */
async function* fileBytes(
  path: string,
  sizeBytes: number,
  copied: Copied,
): AsyncGenerator<Buffer, void, undefined> {
  const pieces: AsyncIterable<Buffer> = createReadStream(path, { end: sizeBytes - 1 });
  for await (const piece of pieces) {
    copied.add(piece, sizeBytes);
    yield piece;
  }
}

/** What was copied so far. */
class Copied {
  readonly line: ProgressLine;
  readonly #hash = createHash("sha256");
  #sizeBytes = 0;

  constructor(io: CommandIo, what: string) {
    this.line = new ProgressLine(io, what, "bytes");
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  add(bytes: Buffer, totalBytes: number): void {
    this.#hash.update(bytes);
    this.#sizeBytes += bytes.length;
    this.line.show(this.#sizeBytes, totalBytes);
  }

  /** At the end. */
  sha256(): string {
    return this.#hash.digest("hex");
  }
}

interface Copy {
  readonly path: string;
  readonly address: string;
  readonly copied: Copied;
}

async function writeCopied(
  { path, address, copied }: Copy,
  done: string,
  json: boolean,
  { out }: CommandIo,
): Promise<void> {
  const { sizeBytes } = copied;
  const sha256 = copied.sha256();
  if (json) return writeJsonLine(out, { path, address, sizeBytes, sha256 });
  const size = countText(sizeBytes, "byte");
  return out.write(`${done} ${size}, sha256 ${sha256}\n${oneLine(address, 400)}\n`);
}

function listedJson(listed: StoredSessionFacts): object {
  const { name, address, sessionId, cwd, sizeBytes, createdAt, changedAt, expiresAt } = listed;
  const times = { created: createdAt, modified: changedAt, expires: expiresAt };
  return { name, address, sessionId, cwd, sizeBytes, ...times };
}

function listedText({ name, sizeBytes, changedAt, cwd = "" }: StoredSessionFacts): string {
  const fields = [name, changedAt.toISOString(), sizeText(sizeBytes), cwd];
  return `${fields.map((field) => oneLine(field, 400)).join("\t")}\n`;
}
