/**
 * A program without the lock that appends at every call of a migration, to the name or to the file
 * that it has open: no line of it is torn, merged or gone from the disk, and ours are not hurt.
 */
import { describe, expect, it } from "vitest";
import { MemoryFileSystem, createMemoryPorts, sampleTime } from "@branchlog/core/testing";
import { runs } from "../support/fault-seed.ts";
import { fixtureBytes } from "../support/fixture.ts";
import { appendTo, appenderToOpenFile } from "../support/append-to.ts";
import { observedFileSystem } from "../support/observed-file-system.ts";
import { rawLog } from "../support/raw-log.ts";
import { reproducible } from "../support/reproducible-ports.ts";
import { BlockingSession } from "../support/blocking-session.ts";

const path = "/d/s.jsonl";
const old = fixtureBytes("pi-v1");

const lineOf = (content: string): string =>
  `{"type":"message","timestamp":"${sampleTime}","message":{"role":"user","content":"${content}","timestamp":1}}\n`;

/** A peer: how it writes, and what it has written. */
interface Peer {
  readonly append: (memory: MemoryFileSystem, text: string) => void;
  /** Bytes of its first line; the others are short. */
  readonly bytes: number;
  /** It continues writing to the old file once that has lost its name. */
  readonly writesToOld?: boolean;
}

const appendByName: Peer["append"] = (memory, text) => appendTo(memory, path, text);

const peers: Readonly<Record<string, () => Peer>> = {
  "by name": () => ({ append: appendByName, bytes: 10 }),
  "by name, more than is carried over at once": () => ({ append: appendByName, bytes: 300_000 }),
  "to the file it has open": () => ({
    append: appenderToOpenFile(path),
    bytes: 10,
    writesToOld: true,
  }),
};

/** One run in which the peer appends before each call from the n-th on; false: there is none. */
function run(n: number, { append, bytes, writesToOld = false }: Peer): boolean {
  const memory = new MemoryFileSystem();
  memory.makeDirectorySync("/d");
  memory.writeFileSync(path, old);
  const said: string[] = [];
  let calls = -1;
  const fs = observedFileSystem(memory, (_, effect) => {
    if (calls >= 0) calls += 1;
    if (calls <= n) return effect();
    const content = `${said.length} ${said.length < 6 ? "x".repeat(bytes) : ""}`;
    said.push(content);
    append(memory, lineOf(content));
    return effect();
  });
  // A file that a peer has open from the start.
  append(memory, "");
  const ports = createMemoryPorts({ fs, ...reproducible() });
  const session = BlockingSession.open(path, { ports });
  const idsBefore = session.entries().map(({ id }) => id);
  calls = 0;
  const draft = { type: "custom", customType: "ours" } as const;
  session.append({ draft, id: "new-0" }, { draft, id: "new-1" });
  const isOver = calls <= n;
  calls = -1;

  const log = rawLog(memory.readFileSync(path));
  const again = BlockingSession.open(path, { ports });
  expect(again.header.version).toBe(3);
  for (const id of ["new-0", "new-1"]) {
    expect(log.entries.filter((entry) => entry.id === id)).toHaveLength(1);
    expect(again.entry(id)).toMatchObject({ id, customType: "ours" });
  }
  expect(log.debris).toEqual([]);
  for (const id of idsBefore) expect(again.entry(id)).toBeDefined();
  const names = writesToOld ? memory.listSync("/d") : ["s.jsonl"];
  const texts = names.map((name) => memory.readFileSync(`/d/${name}`).toString());
  for (const content of said) {
    expect(texts.some((text) => text.includes(JSON.stringify(content)))).toBe(true);
  }
  return !isOver;
}

describe("a migration during which a program without the lock appends", () => {
  it.each(Object.entries(peers))(
    "tears nothing and loses nothing: %s (Verifies: P11)",
    (_, newPeer) => {
      let n = 0;
      while (run(n, newPeer())) n += runs(3, 1);
      expect(n).toBeGreaterThan(20);
    },
  );
});
