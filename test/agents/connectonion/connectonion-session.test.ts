/** Sessions of ConnectOnion as files: created, read, appended to, alongside editors and others. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isBranchlogError } from "@branchlog/core";
import {
  createConnectonion,
  isConnectonion,
  openConnectonion,
} from "@branchlog/agents/connectonion";
import type { NewTurn } from "@branchlog/agents/connectonion";
import {
  ManualClock,
  MemoryFileSystem,
  createMemoryPorts,
  nodePorts,
} from "@branchlog/core/testing";
import type { FileSystem, Ports } from "@branchlog/core/testing";
import { createRandom } from "@branchlog/bench/generator";
import { readDocument } from "../../../packages/agents/src/connectonion/read-document.ts";
import { dieAtEveryCall, diskWith } from "../../support/crash-file-system.ts";
import { runs, seed } from "../../support/fault-seed.ts";
import { failingFileSystem, failures } from "../../support/failing-calls.ts";
import { sampledCalls } from "../../support/sampled-calls.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixtureText } from "./documents.ts";

const turn: NewTurn = {
  input: "list files",
  result: "Found 10 files",
  model: "co/gemini-2.5-pro",
  duration_ms: 1200,
  tokens: 100,
  cost: 0.00125,
  tools_called: ["run(command='ls -la')"],
};
const messages = [
  { role: "user", content: "list files" },
  { role: "assistant", content: "Found 10 files" },
];

/** Makes a file look as if it had not been written for a while. */
function settle(path: string): void {
  const longAgo = Date.now() / 1000 - 60;
  utimesSync(path, longAgo, longAgo);
}

/** The ideal fixture in a separate file. */
function idealFile(): string {
  const path = join(temporaryDirectory(), "oo.yaml");
  writeFileSync(path, fixtureText("ideal"));
  settle(path);
  return path;
}

describe("a session of ConnectOnion", () => {
  it("is created in the standard layout, and grows by turns", async () => {
    const clock = new ManualClock(new Date(2026, 1, 3, 4, 5, 6).getTime());
    const path = join(temporaryDirectory(), ".co", "sessions", "oo.yaml");
    const session = await createConnectonion(path, {
      name: "oo",
      systemPrompt: "Be\nbrief.",
      ports: { clock },
    });
    expect(readFileSync(path, "utf8")).toBe(
      [
        "# ===== METADATA (compact) =====",
        "name: oo",
        "created: '2026-02-03 04:05:06'",
        "updated: ''",
        "total_cost: 0.0",
        "total_tokens: 0",
        "",
        "# ===== TURNS SUMMARY (all turns visible at a glance) =====",
        "turns: []",
        "",
        "# ===== DETAIL SECTION (scroll down) =====",
        "system_prompt: |-",
        "  Be",
        "  brief.",
        "",
        "messages: {}",
        "",
      ].join("\n"),
    );
    expect(await session.appendTurn(turn, messages)).toEqual({ turn: 1 });
    expect(await session.appendTurn({ ...turn, passed: true }, messages)).toEqual({ turn: 2 });
    expect(session.totals).toEqual({
      count: 2,
      total_cost: 0.0026,
      total_tokens: 200,
      passed: 1,
      failed: 0,
    });
    expect(session.storedTotals).toEqual({ total_cost: 0.0026, total_tokens: 200 });
    expect(session.diagnostics).toEqual([]);
    const again = await openConnectonion(path);
    expect(again.document).toEqual(session.document);
    expect(again.turns[1]).toMatchObject({
      turn: 2,
      timestamp: "2026-02-03 04:05:06",
      passed: true,
    });
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("gives the messages of the recipes", async () => {
    const session = await openConnectonion(idealFile());
    const system = {
      role: "system",
      content: "You are a coding agent. You have access to tools to help complete tasks.",
    };
    const [one, two, three] = [1, 2, 3].map((number) => session.messagesOfTurn(number));
    expect(session.messagesForResume()).toEqual([
      system,
      ...(one ?? []),
      ...(two ?? []),
      ...(three ?? []),
    ]);
    expect(session.messagesForReplay(2)).toEqual([
      system,
      ...(one ?? []),
      { role: "user", content: "create hello.py that prints hello world" },
    ]);
    expect(one).toHaveLength(4);
    expect(() => session.messagesOfTurn(4)).toThrow("There is no turn 4: there are 3");
    expect(() => session.messagesForReplay(0)).toThrow("There is no turn 0");
  });

  it("keeps manual additions, and the mode of the file", async () => {
    const path = idealFile();
    chmodSync(path, 0o640);
    const session = await openConnectonion(path);
    // An editor saves while the session is open.
    const edited = readFileSync(path, "utf8").replace(
      "    timestamp: '2025-12-03 10:15:30'\n",
      "    timestamp: '2025-12-03 10:15:30'\n    expected: A script   # mine\n    passed: true\n",
    );
    writeFileSync(path, edited);
    await session.appendTurn(turn, messages);
    const after = readFileSync(path, "utf8");
    expect(after).toContain("    expected: A script   # mine\n    passed: true\n");
    expect(after).toContain("    # expected: Should list all files\n    # passed: true\n");
    expect(session.turns.map(({ passed }) => passed)).toEqual([
      undefined,
      true,
      undefined,
      undefined,
    ]);
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(readdirSync(dirname(path))).toEqual(["oo.yaml"]);
  });

  it.skipIf(process.platform === "win32")(
    "is replaced at the target of a symbolic link",
    async () => {
      const path = idealFile();
      const link = join(temporaryDirectory(), "link.yaml");
      symlinkSync(path, link);
      await (await openConnectonion(link)).appendTurn(turn, messages);
      expect((await openConnectonion(path)).turns).toHaveLength(4);
    },
  );

  it("is distinguished from a log by its content", async () => {
    const directory = temporaryDirectory();
    const log = join(directory, "log.yaml");
    writeFileSync(log, '{"type":"session","id":"x"}\nname: no\n');
    expect(isConnectonion(log)).toBe(false);
    expect(isConnectonion(join(directory, "gone.yaml"))).toBe(false);
    expect(isConnectonion(idealFile())).toBe(true);
  });

  it.each([
    [{ ...turn, tokens: 1n }, messages, "ERR_UNSERIALIZABLE"],
    [{ ...turn, turn: 5 }, messages, "ERR_INVALID_ARGUMENT"],
    [turn, ["text"], "ERR_INVALID_ARGUMENT"],
  ])("rejects an invalid turn", async (bad, list, code) => {
    const session = await openConnectonion(idealFile());
    const append = session.appendTurn(bad as unknown as NewTurn, list as typeof messages);
    await expect(append).rejects.toMatchObject({ code });
  });
});

describe("a document with several writers", () => {
  it("loses no turn of two processes", async () => {
    const path = idealFile();
    const count = runs(4, 15);
    const program = fileURLToPath(new URL("appending-process.mjs", import.meta.url));
    const children = ["one", "other"].map((name) =>
      spawn(process.execPath, [program, path, name, `${count}`], {
        stdio: ["ignore", "ignore", "inherit"],
      }),
    );
    const codes = await Promise.all(children.map((child) => once(child, "exit")));
    expect(codes.map(([code]) => code as number)).toEqual([0, 0]);
    const { turns, storedTotals, diagnostics } = await openConnectonion(path);
    expect(turns.map(({ turn: number }) => number)).toEqual(
      Array.from({ length: 3 + 2 * count }, (_, at) => at + 1),
    );
    for (const name of ["one", "other"]) {
      const own = turns
        .filter(({ input }) => input.startsWith(`${name} `))
        .map(({ input }) => input);
      expect(own).toEqual(Array.from({ length: count }, (_, at) => `${name} ${at + 1}`));
    }
    expect(storedTotals).toEqual({
      total_cost: expect.closeTo(0.0523 + 0.0002 * count, 6) as unknown,
      total_tokens: 25_000 + 2 * count,
    });
    expect(diagnostics.map(({ kind }) => kind)).toEqual([
      "total-cost-differs",
      "total-tokens-differ",
    ]);
  });

  it("loses no turn of concurrent appends that each read the file", async () => {
    const path = idealFile();
    const each = [1, 2, 3].slice(0, runs(2, 3));
    const sessions = await Promise.all(each.map(() => openConnectonion(path)));
    const appends = sessions.flatMap((session) =>
      each.map((number) => session.appendTurn({ ...turn, input: `in ${number}` }, messages)),
    );
    const numbers = (await Promise.all(appends)).map(({ turn: number }) => number);
    expect(numbers.toSorted((one, other) => one - other)).toEqual(appends.map((_, at) => at + 4));
    expect((await openConnectonion(path)).turns).toHaveLength(3 + appends.length);
  });

  it("is read again while it is partly written", async () => {
    const fs = new MemoryFileSystem();
    const clock = new ManualClock(1);
    const path = "/oo.yaml";
    const whole = Buffer.from(fixtureText("ideal"));
    fs.writeFileSync(path, whole.subarray(0, whole.indexOf("'2025-12-03 10:18") + 5));
    let reads = 0;
    fs.onCall = ({ name }) => {
      if (name !== "openSync") return;
      reads += 1;
      if (reads === 3) fs.writeFileSync(path, whole);
    };
    const ports = createMemoryPorts({ fs, clock: waking(clock) });
    const session = await openConnectonion(path, { ports });
    expect(session.turns).toHaveLength(3);
    expect(reads).toBeGreaterThanOrEqual(3);
  });

  it("is not considered complete while its tool pauses during a write", async () => {
    const path = idealFile();
    const whole = fixtureText("ideal");
    const half = whole.slice(0, whole.indexOf("  - turn: 2"));
    let pauses = 0;
    const clock = {
      ...nodePorts.clock,
      sleep: async () => {
        pauses += 1;
        if (pauses !== 5) return;
        appendFileSync(path, whole.slice(half.length));
        settle(path);
      },
    };
    const session = await openConnectonion(path, { ports: { clock } });
    // What is left there is a document, too, with turns and messages missing.
    writeFileSync(path, half);
    expect(await session.appendTurn(turn, messages)).toMatchObject({ turn: 4 });
    const { turns, document } = await openConnectonion(path);
    expect(turns).toHaveLength(4);
    expect(document.systemPrompt).toContain("You are a coding agent");
  });

  it.each(Object.entries(failures))(
    "is complete whichever call fails with %s",
    async (_, failure) => {
      const failed = await sampledCalls(12, async (n) => {
        const path = "/d/oo.yaml";
        const fs = new MemoryFileSystem();
        fs.makeDirectorySync("/d");
        fs.writeFileSync(path, Buffer.from(fixtureText("ideal")));
        const clock = waking(new ManualClock(Date.now()));
        const open = (of: FileSystem) =>
          openConnectonion(path, { ports: createMemoryPorts({ fs: of, clock }) });
        const failing = failingFileSystem(fs);
        const session = await open(failing.fs);
        failing.arm(n, failure);
        const outcome = await session.appendTurn(turn, messages).then(
          (appended) => appended,
          (error: unknown) => error,
        );
        const hasFailed = failing.disarm();
        const { turns } = await open(fs);
        const isKnown = isBranchlogError(outcome, "ERR_DURABILITY_UNKNOWN");
        const isDone = isKnown || !isBranchlogError(outcome);
        expect([outcome, turns.length]).toEqual([outcome, isDone ? 4 : 3]);
        if (!isDone) expect(fs.readFileSync(path).toString()).toBe(fixtureText("ideal"));
        expect(await session.appendTurn(turn, messages)).toEqual({ turn: isDone ? 5 : 4 });
        return hasFailed;
      });
      expect(failed).toBeGreaterThan(0);
    },
  );

  it(`is the complete old or new one after a power failure at any call (seed ${seed})`, async () => {
    const random = createRandom(seed);
    const path = "/d/oo.yaml";
    const before = fixtureText("ideal");
    await dieAtEveryCall(
      () => diskWith(path, Buffer.from(before)),
      async ({ fs }) => {
        const session = await openConnectonion(path, { ports: createMemoryPorts({ fs }) });
        return session.appendTurn(turn, messages);
      },
      (disk, result, calls) => {
        for (let run = 0; run < 8; run += 1) {
          const left = disk.afterPowerLoss((of) => random.below(of));
          const found = left.readFileSync(path).toString();
          if (found === before) expect(result, `after ${calls} calls`).toBeUndefined();
          else expect(readDocument(found, path).document.turns).toHaveLength(4);
        }
      },
    );
  });

  it("is not changed while it keeps changing", async () => {
    const path = idealFile();
    let edits = 0;
    const fs = {
      ...nodePorts.fs,
      fdatasyncSync: (fd: number) => {
        nodePorts.fs.fdatasyncSync(fd);
        edits += 1;
        writeFileSync(path, `${fixtureText("ideal")}# ${edits}\n`);
        settle(path);
      },
    };
    const session = await openConnectonion(path, { ports: { fs } });
    await expect(session.appendTurn(turn, messages)).rejects.toMatchObject({
      code: "ERR_LOG_CHANGED",
    });
    expect(readFileSync(path, "utf8")).toBe(`${fixtureText("ideal")}# ${edits}\n`);
    expect(readdirSync(dirname(path))).toEqual(["oo.yaml"]);
  });
});

/** A clock whose sleeps end at once. */
function waking(clock: ManualClock): Ports["clock"] {
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    sleepSync: () => undefined,
    sleep: () => Promise.resolve(),
  };
}
