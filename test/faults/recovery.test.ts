/**
 * What a crash leaves at the end of a log, and what other programs do to a log that is open:
 * reading loses no complete record, appending merges nothing and makes no file that is not a
 * session, and every failure has a code.
 */
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { jsonLines, sampleHeader, userDraft, userEntry } from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import { userMessage } from "../core/projections/sample-entries.ts";
import { temporaryFile } from "../support/temporary-directory.ts";
import { rejection, typedError } from "../support/typed-errors.ts";

const header = jsonLines(sampleHeader());
const entry = (id: string, parentId: string | null, content = "hi"): string =>
  JSON.stringify(userEntry(id, parentId, content));

const start = `${header}${entry("a", null)}\n`;
const last = entry("b", "a", "5 €");

/** The line of `text` that is truncated after `part`, so many bytes further. */
function cutBehind(text: string, part: string, bytes: number): Buffer {
  const line = Buffer.from(text);
  return line.subarray(0, line.indexOf(part) + Buffer.byteLength(part) + bytes);
}

/** What is after whole lines, and the leaf of a session that opens it. */
interface Tail {
  readonly bytes: string | Buffer;
  readonly leaf: string;
  /** Whether it ends in a newline. */
  readonly isTerminated: boolean;
  /** Findings once it is a line: of what kind, in which line. */
  readonly findings: readonly string[];
}

const bad = (...reasons: readonly string[]): string[] => reasons.map((one) => `bad-line ${one}`);
const notJson = bad("not-json");
const nuls = bad("nul-bytes");
const torn = last.slice(0, 50);
const long = entry("b", "a", "x".repeat(3000)).slice(0, -9);

const rows: readonly (readonly [name: string, bytes: Tail["bytes"], leaf: string, string[]])[] = [
  ["one byte", "{", "a", notJson],
  ["a record cut off in a character", cutBehind(last, "5 ", 2), "a", notJson],
  ["a record cut off in a string", cutBehind(last, "5", 0), "a", notJson],
  ["a record cut off in an escape", `${last.slice(0, 60)}\\`, "a", notJson],
  ["a record without its last brace", last.slice(0, -1), "a", notJson],
  ["a complete record without its newline", last, "b", []],
  ["a whole record with half of a line end", `${last}\r`, "b", []],
  ["NUL bytes", "\0".repeat(5000), "a", nuls],
  ["a cut off record and NUL bytes", `${torn}${"\0".repeat(500)}`, "a", nuls],
  ["a whole record and NUL bytes", `${last}\0\0`, "a", nuls],
  ["spaces", "   ", "a", []],
  ["a cut off record with a whole one behind it", `${torn}${last}\n`, "a", notJson],
  ["two whole records on one line", `${last}${entry("c", "b")}\n`, "a", notJson],
  ["a cut off record with a whole one behind it, no newline", `${torn}${last}`, "a", notJson],
  ["a damaged line and a whole record behind it", `${torn}\n${entry("c", "a")}\n`, "c", notJson],
  ["a damaged line and a cut off record", `oops\n${torn}`, "a", bad("not-json", "not-json")],
  ["a record over lineBytesMax, cut off", long, "a", notJson],
];
const tails = rows.map(([name, bytes, leaf, findings]): readonly [string, Tail] => {
  return [name, { bytes, leaf, findings, isTerminated: Buffer.from(bytes).at(-1) === 10 }];
});

const lineBytesMax = 1000;

/** Ways to append after a tail; each gives the id of what it appended. */
const ways: Readonly<Record<string, (path: string, tail: Tail) => Promise<string>>> = {
  "by a session that opens it": async (path, { leaf, bytes }) => {
    const session = await openSession(path, { lineBytesMax });
    expect(session.leaf).toBe(leaf);
    expect(readFileSync(path).subarray(start.length).equals(Buffer.from(bytes))).toBe(true);
    return (await session.append(userDraft("new"))).id;
  },
  "by a session that was open before": async (path, { bytes }) => {
    writeFileSync(path, start);
    const session = await openSession(path, { lineBytesMax });
    await session.follow();
    appendFileSync(path, bytes);
    return (await session.append(userDraft("new"), { onDiverged: "follow" })).id;
  },
  "as the first of a batch": async (path) => {
    const session = await openSession(path, { lineBytesMax });
    const [first, second] = await session.appendAll([userDraft("new"), userDraft("second")]);
    expect(second?.parentId).toBe(first?.id);
    return first?.id ?? "";
  },
  "by a drop-in": (path) => {
    const manager = SessionManager.open(path);
    return Promise.resolve(manager.appendMessage(userMessage("new")));
  },
};

describe.each(tails)("behind %s", (_, tail) => {
  it.each(Object.entries(ways))(
    "an entry is appended %s (Verifies: P9, P10)",
    async (__, append) => {
      const before = Buffer.concat([Buffer.from(start), Buffer.from(tail.bytes)]);
      const path = temporaryFile(before);
      const id = await append(path, tail);
      const after = readFileSync(path);
      expect(after.subarray(0, before.length).equals(before)).toBe(true);
      const added = after.subarray(before.length).toString();
      const [line = ""] = (tail.isTerminated ? added : added.slice(1)).split("\n");
      expect(tail.isTerminated || added.startsWith("\n")).toBe(true);
      expect(JSON.parse(line)).toMatchObject({ id, parentId: tail.leaf, type: "message" });
      expect(added.endsWith("\n")).toBe(true);

      const session = await openSession(path);
      const { findings } = tail;
      expect(session.diagnostics.map(({ kind, reason }) => `${kind} ${reason}`)).toEqual(findings);
      const branch = (await session.branch(id)).map((one) => one.id);
      expect(branch).toEqual(["a", ...(tail.leaf === "a" ? [] : [tail.leaf]), id]);
      expect((await verifySession(session)).badLineCount).toBe(findings.length);
    },
  );
});

describe("a log with only a header", () => {
  it("is an empty session; its first entry is a root", async () => {
    const path = temporaryFile(header);
    const session = await openSession(path);
    expect([session.leaf, session.tail, session.revision]).toEqual([null, null, 0]);
    expect((await session.context()).messages).toEqual([]);
    expect((await session.append(userDraft("1"))).parentId).toBeNull();
  });

  it("is completed if its newline is missing", async () => {
    const path = temporaryFile(header.slice(0, -1));
    const session = await openSession(path);
    const { id } = await session.append(userDraft("1"));
    expect(readFileSync(path, "utf8").startsWith(header)).toBe(true);
    expect((await openSession(path)).tail).toBe(id);
  });

  it.each([1, 20, 60, header.length - 2])(
    "is not a session, and not changed, if it was truncated at byte %i",
    async (cut) => {
      const path = temporaryFile(header.slice(0, cut));
      await expect(openSession(path)).rejects.toMatchObject({ code: "ERR_NOT_A_SESSION" });
      expect(readFileSync(path, "utf8")).toBe(header.slice(0, cut));
    },
  );
});

/** A session that wrote `own` after what was there, and whose log something happens to then. */
interface Open {
  readonly session: Session;
  readonly path: string;
  readonly own: string;
  /** The log as it was before it happened. */
  readonly text: string;
}

async function openLog(): Promise<Open> {
  const path = temporaryFile(`${start}${last}\n`);
  const session = await openSession(path);
  const { id: own } = await session.append(userDraft("own"));
  return { session, path, own, text: readFileSync(path, "utf8") };
}

function replaceBy(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** What leaves no session at the path. */
interface Ending {
  readonly happen: (open: Open) => void;
  readonly code: string;
  /** Of appends, where the lock or the write fails before the log is read. */
  readonly appendCode?: RegExp;
  /** What the file holds; default: there is none. */
  readonly leaves?: (open: Open) => string;
}

const endings: Readonly<Record<string, Ending>> = {
  "is deleted": { happen: ({ path }) => unlinkSync(path), code: "ERR_LOG_GONE" },
  "is moved away": { happen: ({ path }) => renameSync(path, `${path}.away`), code: "ERR_LOG_GONE" },
  "loses its directory": {
    happen: ({ path }) => rmSync(dirname(path), { recursive: true }),
    code: "ERR_LOG_GONE",
    appendCode: /^ERR_(?:LOG_GONE|APPEND_FAILED)$/,
  },
  "is emptied": {
    happen: ({ path }) => truncateSync(path),
    code: "ERR_LOG_EMPTY",
    leaves: () => "",
  },
  "is cut off in its header": {
    happen: ({ path }) => truncateSync(path, 40),
    code: "ERR_NOT_A_SESSION",
    leaves: () => header.slice(0, 40),
  },
  "loses its header": {
    happen: ({ path, text }) => writeFileSync(path, text.slice(header.length)),
    code: "ERR_HEADER_DAMAGED",
    leaves: ({ text }) => text.slice(header.length),
  },
  "is overwritten with something else": {
    happen: ({ path }) => writeFileSync(path, "shopping list\n"),
    code: "ERR_NOT_A_SESSION",
    leaves: () => "shopping list\n",
  },
  "is replaced by a directory": {
    happen: ({ path }) => {
      unlinkSync(path);
      mkdirSync(path);
    },
    code: "ERR_LOG_UNREADABLE",
    appendCode: /^ERR_(?:LOG_UNREADABLE|APPEND_FAILED)$/,
  },
};

describe.each(Object.entries(endings))("a log that %s while it is open", (_, ending) => {
  it("fails with a code, is not written to, and works again once it is restored (Verifies: P12)", async () => {
    const open = await openLog();
    const { session, path, own, text } = open;
    ending.happen(open);
    const failure = { code: ending.code, path };
    const codes = ending.appendCode ?? new RegExp(`^${ending.code}$`);
    for (const draft of [userDraft("lost"), { type: "session_info", name: "n" } as const]) {
      const error = typedError(await rejection(session.append(draft)));
      expect(error.code).toMatch(codes);
      expect(error).toMatchObject({ path, written: [] });
    }
    await expect(session.refresh()).rejects.toMatchObject(failure);
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
    expect(isFile ? readFileSync(path, "utf8") : null).toBe(ending.leaves?.(open) ?? null);
    expect([session.leaf, session.tail, session.revision]).toEqual([own, own, 3]);
    expect(session.tips().map(({ id }) => id)).toEqual([own]);

    rmSync(path, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    expect((await session.append(userDraft("next"))).parentId).toBe(own);
    expect((await session.context()).messages).toHaveLength(4);
    expect((await verifySession(session)).ok).toBe(true);
  });
});

describe("a log that loses entries while it is open", () => {
  const other = `${header.replace('"id":"s"', '"id":"other"')}${entry("z", null)}\n`;
  const losses: readonly (readonly [string, string | null, (open: Open) => void])[] = [
    [
      "since it was cut off behind its header",
      null,
      ({ path }) => truncateSync(path, header.length),
    ],
    [
      "since it was cut off in the last entry",
      "b",
      ({ path, text }) => truncateSync(path, text.length - 10),
    ],
    ["since an older copy was put back", "b", ({ path }) => replaceBy(path, `${start}${last}\n`)],
    ["since another session took its name", "z", ({ path }) => replaceBy(path, other)],
    [
      "since it was rewritten in place",
      "y",
      ({ path }) => writeFileSync(path, `${start}${entry("y", "a")}\n`),
    ],
    [
      "since the name now leads elsewhere",
      "z",
      ({ path }) => {
        writeFileSync(`${path}.other`, other);
        unlinkSync(path);
        symlinkSync(`${path}.other`, path);
      },
    ],
  ];

  it.each(losses)("reports them, %s", async (_, tail, happen) => {
    const open = await openLog();
    const { session, path, own } = open;
    happen(open);
    const before = readFileSync(path);
    // At its leaf, which is gone, the entry would have no parent.
    await expect(session.append(userDraft("lost"))).rejects.toMatchObject({ code: "ERR_DIVERGED" });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(session.diagnostics).toContainEqual(
      expect.objectContaining({ kind: "lost-entries", id: own }),
    );
    expect(session.tail).toBe(tail);
    await session.follow();
    const { id, parentId } = await session.append(userDraft("next"));
    expect(parentId).toBe(tail);
    const again = await openSession(path);
    expect(again.tail).toBe(id);
    expect(readFileSync(path).subarray(0, before.length).equals(before)).toBe(true);
  });
});

describe("a log with unchanged bytes", () => {
  const sameness: Readonly<Record<string, (open: Open) => void>> = {
    "it was moved away and back": ({ path }) => {
      renameSync(path, `${path}.away`);
      renameSync(`${path}.away`, path);
    },
    "a copy took its place": ({ path }) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
    "it was saved again in place": ({ path, text }) => writeFileSync(path, text),
    "it became a link to where it is now": ({ path }) => {
      renameSync(path, `${path}.moved`);
      symlinkSync(`${path}.moved`, path);
    },
  };

  it.each(Object.entries(sameness))("continues unchanged: %s", async (_, happen) => {
    const open = await openLog();
    const { session, path, own, text } = open;
    happen(open);
    expect((await session.append(userDraft("next"))).parentId).toBe(own);
    expect(session.diagnostics).toEqual([]);
    expect(readFileSync(path, "utf8").startsWith(text)).toBe(true);
    expect((await session.context()).messages).toHaveLength(4);
  });
});
