/**
 * Expected tails that are overtaken between the check and the write: noticed by the entry before.
 */
import { describe, expect, it } from "vitest";
import { createSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts, userDraft } from "@branchlog/core/testing";

const path = "/s.jsonl";
const peer = '{"type":"custom","customType":"peer","id":"peer","parentId":null}\n';

interface World {
  readonly fs: MemoryFileSystem;
  readonly session: Session;
  /** Does something just before the next write, or to it. */
  readonly atNextWrite: (what: () => void | "short") => void;
}

async function newWorld(): Promise<World> {
  const fs = new MemoryFileSystem();
  const session = await createSession(path, { ports: createMemoryPorts({ fs }), cwd: "/w" });
  await session.append(userDraft("first"), { id: "first" });
  const atNextWrite = (what: () => void | "short"): void => {
    fs.onCall = ({ name }) => {
      if (name !== "writeSync") return undefined;
      fs.onCall = undefined;
      return what();
    };
  };
  return { fs, session, atNextWrite };
}

function appendRaw(fs: MemoryFileSystem, text: string): void {
  const fd = fs.openSync(path, "append");
  fs.writeSync(fd, Buffer.from(text), 0, Buffer.byteLength(text));
  fs.closeSync(fd);
}

describe("an append that expects a tail", () => {
  it("conflicts if an entry came in between, and says that it was written (Verifies: P2)", async () => {
    const { fs, session, atNextWrite } = await newWorld();
    atNextWrite(() => appendRaw(fs, peer));
    const append = session.append(userDraft("second"), { id: "second", expectedTail: "first" });
    await expect(append).rejects.toMatchObject({
      code: "ERR_CONFLICT",
      written: ["second"],
      tail: "second",
    });
    expect(session.leaf).toBe("second");
    expect(session.revision).toBe(3);
  });

  it("conflicts, too, if it had to be written again behind that entry", async () => {
    const { fs, session, atNextWrite } = await newWorld();
    // The first attempt is glued to the fragment; the second is behind the record.
    atNextWrite(() => {
      appendRaw(fs, peer.slice(0, 30));
      atNextWrite(() => appendRaw(fs, `\n${peer}`));
    });
    const append = session.append(userDraft("second"), { id: "second", expectedTail: "first" });
    await expect(append).rejects.toMatchObject({ code: "ERR_CONFLICT", written: ["second"] });
  });

  it("holds if what came in between is no entry", async () => {
    const { fs, session, atNextWrite } = await newWorld();
    atNextWrite(() => appendRaw(fs, peer.slice(0, 30)));
    const append = session.append(userDraft("second"), { id: "second", expectedTail: "first" });
    expect(await append).toMatchObject({ id: "second", revision: 2, displaced: true });
  });

  it("holds if the write was only cut short", async () => {
    const { session, atNextWrite } = await newWorld();
    atNextWrite(() => "short");
    const append = session.append(userDraft("second"), { id: "second", expectedTail: "first" });
    expect(await append).toMatchObject({ id: "second", revision: 2, displaced: true });
  });

  it("of a group conflicts by itself: the others are only at other offsets", async () => {
    const { fs, session, atNextWrite } = await newWorld();
    atNextWrite(() => appendRaw(fs, peer));
    const settled = await Promise.allSettled([
      session.append(userDraft("second"), { id: "second", expectedTail: "first" }),
      session.append(userDraft("third"), { id: "third", expectedTail: "second" }),
      session.append(userDraft("fourth")),
    ]);
    expect(settled).toMatchObject([
      { reason: { code: "ERR_CONFLICT", written: ["second"] } },
      { value: { id: "third", parentId: "second", displaced: true } },
      { value: { parentId: "third", displaced: true } },
    ]);
  });
});
