/** Golden sessions of opencode: dumps of databases, and trees of JSON. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { databaseBytes, writeDatabase } from "../../support/database-file.ts";
import { fixturePath } from "../read-session.ts";

/** Of a file below the directory of the agent's data. */
const databasePlace = "opencode/opencode.db";

export function dumpOf(version: string): string {
  return readFileSync(fixturePath(`opencode/opencode-${version}.sql`), "utf8");
}

/** A new database below a directory. */
export function databaseOf(root: string, ...statements: readonly string[]): Promise<string> {
  return writeDatabase(join(root, databasePlace), ...statements);
}

export async function opencodeFixture(
  version: string,
): Promise<{ readonly place: string; readonly bytes: Buffer }> {
  return { place: databasePlace, bytes: await databaseBytes(dumpOf(version)) };
}

/** The files of a session, its own first; of all, without an id. */
export function opencodeTree(id?: string): Readonly<Record<string, Buffer>> {
  const text = readFileSync(fixturePath("opencode/opencode-1.1.65.json"), "utf8");
  const files = Object.entries(JSON.parse(text) as Readonly<Record<string, object>>);
  const messages = files.filter(([place]) => place.startsWith(`storage/message/${id ?? ""}`));
  const owners = new Set(messages.map(([place]) => place.split("/").at(-1)?.slice(0, -5)));
  const wanted = files.filter(([place]) => {
    const [, kind, owner = ""] = place.split("/");
    if (id === undefined) return true;
    if (kind === "session") return place.endsWith(`/${id}.json`);
    return kind === "message" ? owner === id : owners.has(owner);
  });
  const own = wanted.toSorted(
    ([one], [other]) => Number(other.includes("/session/")) - Number(one.includes("/session/")),
  );
  return Object.fromEntries(
    own.map(([place, value]) => [`opencode/${place}`, Buffer.from(JSON.stringify(value))]),
  );
}

export function writeTree(root: string, files: Readonly<Record<string, Buffer>>): void {
  for (const [place, bytes] of Object.entries(files)) {
    const path = join(root, place);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
}

/** Rows of version 2 for a session that the database has already, as its schema describes them. */
export function newerForm(id: string): string {
  const time = 1_795_939_490_000;
  const rows: readonly (readonly [string, object])[] = [
    ["model-switched", { model: { id: "fake-1", providerID: "fake" } }],
    ["user", { text: "list the files" }],
    [
      "assistant",
      {
        agent: "build",
        model: { id: "fake-1", providerID: "fake" },
        content: [
          { type: "reasoning", text: "I look." },
          {
            type: "tool",
            id: "call_1",
            name: "bash",
            state: {
              status: "completed",
              input: { command: "ls" },
              content: [{ type: "text", text: "notes.txt" }],
            },
            time: { completed: time + 2 },
          },
          {
            type: "tool",
            id: "call_2",
            name: "write",
            state: { status: "error", input: {}, content: [], error: { message: "no path" } },
          },
        ],
        finish: "tool-calls",
        cost: 0.5,
        tokens: { input: 100, output: 20, reasoning: 0, cache: { read: 30, write: 0 } },
      },
    ],
    ["compaction", { status: "completed", reason: "auto", summary: "Files were listed." }],
    ["user", { text: "and now?" }],
    [
      "assistant",
      {
        model: { id: "fake-1", providerID: "fake" },
        content: [{ type: "text", text: "Nothing." }],
        finish: "stop",
        tokens: { input: 10, output: 3, reasoning: 2, cache: { read: 0, write: 0 } },
      },
    ],
    [
      "compaction",
      {
        status: "failed",
        error: { message: "no model" },
        tokens: { input: 7, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
      },
    ],
    ["shell", { command: "pwd", status: "exited", exit: 0, output: { output: "/home/dev/shop" } }],
    ["idle", { outcome: "completed" }],
  ];
  const values = rows.map(([type, data], seq) => {
    const at = time + seq;
    return `('v2_${seq}', '${id}', '${type}', ${seq}, ${at}, ${at}, '${JSON.stringify(data)}')`;
  });
  return (
    "CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, directory text, title text, " +
    "revert text, time_created integer, time_updated integer); " +
    "INSERT INTO session_v2 SELECT id, parent_id, directory, 'In version 2', revert, " +
    "time_created, time_updated FROM session; " +
    `INSERT INTO session_message VALUES ${values.join(", ")};`
  );
}
