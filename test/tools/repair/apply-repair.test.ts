/** Carrying out a repair: what is where afterwards, and when it is refused. */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { Ports } from "@branchlog/core/types";
import { nodePorts, sampleHeader, userEntry } from "@branchlog/core/testing";
import { applyRepair, planRepair, salvagedBytes, verifySession } from "@branchlog/tools";
import type { RepairPlan } from "@branchlog/tools";
import { salvageLines } from "../../../packages/tools/src/repair/salvage-lines.ts";
import { MemorySource } from "../../streaming/support/memory-source.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { salvageLinesIn } from "./repaired-log.ts";

const header = JSON.stringify(sampleHeader());
const user = (id: string, parentId: string | null): string =>
  JSON.stringify(userEntry(id, parentId, id));

const whole = [header, user("a", null), user("c", "a")].map((line) => `${line}\n`).join("");
const damaged = whole.replace(user("c", "a"), `${user("b", "a").slice(0, 50)}${user("c", "a")}`);

function damagedLog(content = damaged, directory = temporaryDirectory()): string {
  const path = join(directory, "s.jsonl");
  writeFileSync(path, content);
  return path;
}

function filesIn(path: string): string[] {
  return readdirSync(dirname(path)).toSorted((one, other) => one.localeCompare(other));
}

describe("a repair in place", () => {
  it("replaces the log and keeps the original and the removed bytes", async () => {
    const path = damagedLog();
    const inode = statSync(path).ino;
    const result = await applyRepair(await planRepair(path));
    expect(result).toEqual({
      path,
      original: `${path}.before-repair`,
      salvage: `${path}.salvage`,
      lateBytes: 0,
      findings: [],
    });
    expect(readFileSync(path, "utf8")).toBe(whole);
    expect(readFileSync(`${path}.before-repair`, "utf8")).toBe(damaged);
    expect(statSync(`${path}.before-repair`).ino).toBe(inode);
    const salvage = salvageLinesIn(readFileSync(`${path}.salvage`));
    expect(salvage).toEqual([
      {
        offset: header.length + user("a", null).length + 2,
        length: 50,
        line: 3,
        reason: "torn",
        id: "b",
        text: user("b", "a").slice(0, 50),
      },
    ]);
    expect(filesIn(path)).toEqual(["s.jsonl", "s.jsonl.before-repair", "s.jsonl.salvage"]);
    for (const name of [path, `${path}.salvage`]) expect(statSync(name).mode & 0o777).toBe(0o600);
  });

  it("gives a session that can be appended to", async () => {
    const path = damagedLog();
    await applyRepair(await planRepair(path));
    const session = await openSession(path);
    expect(session.leaf).toBe("c");
    await session.append({ type: "custom", customType: "x" });
    expect(await verifySession(session)).toMatchObject({ ok: true, entries: 3 });
  });

  it("replaces no existing file", async () => {
    const path = damagedLog();
    for (const name of [".before-repair", ".before-repair-2", ".salvage"]) {
      writeFileSync(`${path}${name}`, name);
    }
    const { original, salvage } = await applyRepair(await planRepair(path));
    expect([original, salvage]).toEqual([`${path}.before-repair-3`, `${path}.salvage-2`]);
    for (const name of [".before-repair", ".before-repair-2", ".salvage"]) {
      expect(readFileSync(`${path}${name}`, "utf8")).toBe(name);
    }
  });

  it("uses the original kept by an interrupted repair", async () => {
    const path = damagedLog();
    linkSync(path, `${path}.before-repair`);
    const { original } = await applyRepair(await planRepair(path));
    expect(original).toBe(`${path}.before-repair`);
    expect(readFileSync(`${path}.before-repair`, "utf8")).toBe(damaged);
    expect(readFileSync(path, "utf8")).toBe(whole);
  });

  it("leaves no salvage file if nothing is set aside, and no files without damage", async () => {
    const path = damagedLog(whole.slice(0, -1));
    expect(await applyRepair(await planRepair(path))).toMatchObject({ salvage: null });
    expect(filesIn(path)).toEqual(["s.jsonl", "s.jsonl.before-repair"]);
    const sound = damagedLog(whole);
    const inode = statSync(sound).ino;
    expect(await applyRepair(await planRepair(sound))).toMatchObject({ original: null });
    expect([filesIn(sound), statSync(sound).ino]).toEqual([["s.jsonl"], inode]);
  });

  it("follows a symbolic link to the log and leaves the link", async () => {
    const path = damagedLog();
    const link = join(temporaryDirectory(), "link.jsonl");
    symlinkSync(path, link);
    expect(await applyRepair(await planRepair(link))).toMatchObject({ path });
    expect(readFileSync(link, "utf8")).toBe(whole);
    expect(filesIn(link)).toEqual(["link.jsonl"]);
  });

  it("is seen by a session that has the log open", async () => {
    const path = damagedLog();
    const session = await openSession(path);
    expect(session.leaf).toBe("a");
    await applyRepair(await planRepair(path));
    await session.refresh();
    expect(session.tail).toBe("c");
    expect(session.diagnostics).toEqual([]);
  });

  it("reads a log with lines too long for memory in pieces", async () => {
    const long = user("b", "a").replace('"content":"b"', `"content":"${"€".repeat(500_000)}"`);
    const path = damagedLog(`${whole}${long.slice(0, -3)}${long}${long}\0\0\n${user("d", "b")}\n`);
    const plan = await planRepair(path, { lineBytesMax: 1000 });
    expect(plan.changes.map(({ kind }) => kind)).toEqual([
      "set-aside",
      "recover",
      "set-aside",
      "set-aside",
    ]);
    await applyRepair(plan, { lineBytesMax: 1000 });
    expect(readFileSync(path, "utf8")).toBe(`${whole}${long}\n${user("d", "b")}\n`);
    const salvage = salvageLinesIn(readFileSync(`${path}.salvage`));
    const bytes = Buffer.concat(salvage.map((line) => salvagedBytes(line)));
    expect(bytes.toString()).toBe(`${long.slice(0, -3)}${long}\0\0\n`);
  });
});

describe("a repair into another file", () => {
  it("does not touch the log and its directory, also when they are read-only", async () => {
    const path = damagedLog();
    chmodSync(path, 0o400);
    chmodSync(dirname(path), 0o500);
    const output = join(temporaryDirectory(), "new", "o.jsonl");
    const result = await applyRepair(await planRepair(path), { output });
    chmodSync(dirname(path), 0o700);
    expect(result).toMatchObject({ path: output, original: path, salvage: `${output}.salvage` });
    expect(readFileSync(output, "utf8")).toBe(whole);
    expect(readFileSync(path, "utf8")).toBe(damaged);
    expect(filesIn(path)).toEqual(["s.jsonl"]);
    expect(filesIn(output)).toEqual(["o.jsonl", "o.jsonl.salvage"]);
  });

  it("is rejected if it exists, even if it is the log itself", async () => {
    const path = damagedLog();
    const plan = await planRepair(path);
    const existing = { code: "ERR_LOG_EXISTS" };
    await expect(applyRepair(plan, { output: path })).rejects.toMatchObject(existing);
    expect(readFileSync(path, "utf8")).toBe(damaged);
    expect(filesIn(path)).toEqual(["s.jsonl"]);
  });

  it("copies a log without damage", async () => {
    const path = damagedLog(whole);
    const output = join(dirname(path), "o.jsonl");
    await applyRepair(await planRepair(path), { output });
    expect(readFileSync(output, "utf8")).toBe(whole);
    expect(filesIn(path)).toEqual(["o.jsonl", "s.jsonl"]);
  });
});

describe("a repair of a log that changed since the plan", () => {
  const changes: Readonly<Record<string, (path: string) => void>> = {
    "was appended to": (path) => appendFileSync(path, `${user("d", "c")}\n`),
    "was cut short": (path) => writeFileSync(path, damaged.slice(0, -1)),
    "was rewritten with the same length": (path) =>
      writeFileSync(path, damaged.replaceAll('"a"', '"z"')),
    "was replaced": (path) => {
      writeFileSync(`${path}.new`, damaged);
      renameSync(`${path}.new`, path);
    },
    "was removed": (path) => renameSync(path, `${path}.away`),
  };

  it.each(Object.entries(changes))("is rejected if it %s", async (_, change) => {
    const path = damagedLog();
    const plan = await planRepair(path);
    change(path);
    const [files, content] = [filesIn(path), existsSync(path) ? readFileSync(path, "utf8") : ""];
    await expect(applyRepair(plan)).rejects.toMatchObject({ code: "ERR_LOG_CHANGED", path });
    const output = join(temporaryDirectory(), "o.jsonl");
    await expect(applyRepair(plan, { output })).rejects.toMatchObject({ code: "ERR_LOG_CHANGED" });
    expect(filesIn(output)).toEqual([]);
    expect(filesIn(path)).toEqual(files);
    if (content !== "") expect(readFileSync(path, "utf8")).toBe(content);
  });

  it.each(Object.entries(changes))(
    "is rejected if it %s while it was copied",
    async (_, change) => {
      const path = damagedLog();
      const plan = await planRepair(path);
      const fs: Ports["fs"] = {
        ...nodePorts.fs,
        fdatasync: async (fd) => {
          await nodePorts.fs.fdatasync(fd);
          change(path);
        },
      };
      await expect(applyRepair(plan, { ports: { fs } })).rejects.toMatchObject({
        code: "ERR_LOG_CHANGED",
      });
      expect(filesIn(path).filter((name) => /tmp|salvage|before/.test(name))).toEqual([]);
    },
  );

  it("is rejected if an editor replaces it while its directory is synced", async () => {
    const path = damagedLog();
    const plan = await planRepair(path);
    const fs: Ports["fs"] = {
      ...nodePorts.fs,
      syncDirectorySync: (directory) => {
        nodePorts.fs.syncDirectorySync(directory);
        if (!existsSync(`${path}.before-repair`) || readFileSync(path, "utf8") === "edited") return;
        writeFileSync(`${path}.swap`, "edited");
        renameSync(`${path}.swap`, path);
      },
    };
    await expect(applyRepair(plan, { ports: { fs } })).rejects.toMatchObject({
      code: "ERR_LOG_CHANGED",
    });
    expect(readFileSync(path, "utf8")).toBe("edited");
    expect(readFileSync(`${path}.before-repair`, "utf8")).toBe(damaged);
  });

  it("is rejected while another process holds the lock", async () => {
    const path = damagedLog();
    mkdirSync(`${path}.branchlog-lock`);
    const repair = applyRepair(await planRepair(path), { lockWaitMs: 20 });
    await expect(repair).rejects.toMatchObject({ code: "ERR_LOCK_TIMEOUT" });
    expect(filesIn(path)).toEqual(["s.jsonl", "s.jsonl.branchlog-lock"]);
    expect(readFileSync(path, "utf8")).toBe(damaged);
  });

  it("is rejected in place if its version is newer, but can be written to another file", async () => {
    const path = damagedLog(damaged.replace('"version":3', '"version":9'));
    const plan = await planRepair(path);
    await expect(applyRepair(plan)).rejects.toMatchObject({ code: "ERR_VERSION_NEWER" });
    const output = join(dirname(path), "o.jsonl");
    await applyRepair(plan, { output });
    expect(readFileSync(output, "utf8")).toBe(whole.replace('"version":3', '"version":9'));
  });

  it("ends with its signal and leaves nothing behind", async () => {
    const path = damagedLog();
    const plan = await planRepair(path);
    const controller = new AbortController();
    const fs: Ports["fs"] = {
      ...nodePorts.fs,
      fdatasync: async (fd) => {
        await nodePorts.fs.fdatasync(fd);
        controller.abort(new Error("enough"));
      },
    };
    const repair = applyRepair(plan, { ports: { fs }, signal: controller.signal });
    await expect(repair).rejects.toThrow("enough");
    expect(filesIn(path)).toEqual(["s.jsonl"]);
  });

  it("fails if the copy differs from the plan for any reason", async () => {
    const path = damagedLog();
    const plan = await planRepair(path);
    const wrong: RepairPlan = { ...plan, repaired: { ...plan.repaired, entries: 7 } };
    await expect(applyRepair(wrong)).rejects.toMatchObject({ code: "ERR_REPAIR_FAILED" });
    const unmended: RepairPlan = {
      ...plan,
      steps: [{ kind: "keep", offset: 0, length: damaged.length }],
    };
    await expect(applyRepair(unmended)).rejects.toMatchObject({ code: "ERR_REPAIR_FAILED" });
    expect(filesIn(path)).toEqual(["s.jsonl"]);
    expect(readFileSync(path, "utf8")).toBe(damaged);
  });
});

it("a file system without hard links gets a copy of the original instead", async () => {
  const path = damagedLog();
  const fs: Ports["fs"] = {
    ...nodePorts.fs,
    linkSync() {
      throw Object.assign(new Error("not supported"), { code: "ENOTSUP" });
    },
  };
  const result = await applyRepair(await planRepair(path), { ports: { fs } });
  expect(readFileSync(result.original ?? "", "utf8")).toBe(damaged);
  expect(readFileSync(path, "utf8")).toBe(whole);
  expect(filesIn(path)).toEqual(["s.jsonl", "s.jsonl.before-repair", "s.jsonl.salvage"]);
});

describe("a salvage file", () => {
  const setAside = (length: number): Parameters<typeof salvageLines>[0] => [
    { kind: "set-aside", offset: 0, length, line: 1, reason: "torn", id: null },
  ];

  it("contains every byte, and shows text as text", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes)),
      fc.nat(70_000).map((length) => Buffer.alloc(length)),
      fc.nat(70_000).map((length) => Buffer.from("€x".repeat(length).slice(0, length))),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), (pieces) => {
        const bytes = Buffer.concat(pieces);
        const chunks = [...salvageLines(setAside(bytes.length), new MemorySource(bytes))];
        const lines = salvageLinesIn(Buffer.concat(chunks));
        expect(Buffer.concat(lines.map((line) => salvagedBytes(line))).equals(bytes)).toBe(true);
        let offset = 0;
        for (const line of lines) {
          expect(line.offset).toBe(offset);
          offset += line.length;
        }
      }),
    );
    const text = Buffer.from("€".repeat(100_000));
    const lines = [...salvageLines(setAside(text.length), new MemorySource(text))];
    for (const line of salvageLinesIn(Buffer.concat(lines))) expect(line.text).toMatch(/^€+$/u);
  });
});
