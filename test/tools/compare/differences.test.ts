/** Differences of branches and of contexts: which entries, which messages, and at what cost. */
import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forkSession, openSession } from "@branchlog/core";
import type { AgentMessage, Session } from "@branchlog/core";
import {
  compactionEntry,
  jsonLines,
  sampleHeader,
  userEntry,
  userMessage,
} from "@branchlog/core/testing";
import { diffBranches, diffContexts } from "@branchlog/tools";
import { readCounter } from "@branchlog/streaming";
import { diffMessages } from "../../../packages/tools/src/compare/context-difference.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

interface Link {
  readonly id: string;
  readonly parentId: string | null;
  readonly text?: string;
}

function write(links: readonly Link[], name = "s.jsonl"): string {
  const path = join(temporaryDirectory(), name);
  const entries = links.map(({ id, parentId, text = id }) => userEntry(id, parentId, text));
  writeFileSync(path, jsonLines(sampleHeader(), ...entries));
  return path;
}

async function open(path: string): Promise<Session> {
  return openSession(path, { access: "read" });
}

/** As `2 b -c +d`: how many are common, up to which, and what is in one of the two. */
async function stepsOf(...places: Parameters<typeof diffBranches>): Promise<string> {
  const steps: string[] = [];
  for await (const step of diffBranches(...places)) {
    if (step.kind === "common") steps.push(`${step.count} ${step.lastId}`);
    else steps.push(`${step.kind === "removed" ? "-" : "+"}${step.entry.id}`);
  }
  return steps.join(" ");
}

const forked: readonly Link[] = [
  { id: "a", parentId: null },
  { id: "b", parentId: "a" },
  { id: "c", parentId: "b" },
  { id: "d", parentId: "b" },
  { id: "e", parentId: "d" },
];

describe("diffBranches", () => {
  it("returns the common entries, then those of the first, then those of the second", async () => {
    const session = await open(write(forked));
    expect(await stepsOf({ session, at: "c" }, { session })).toBe("2 b -c +d +e");
    expect(await stepsOf({ session }, { session, at: "d" })).toBe("3 d -e");
    expect(await stepsOf({ session, at: "e" }, { session })).toBe("4 e");
  });

  it("finds the common entries of a fork and its parent", async () => {
    const path = write(forked);
    const fork = join(temporaryDirectory(), "fork.jsonl");
    await forkSession(path, { target: fork, at: "d", cwd: "/" });
    const own = await openSession(fork);
    await own.append({ type: "custom", customType: "test:own" });
    const steps = await stepsOf({ session: await open(path) }, { session: own });
    expect(steps).toBe(`3 d -e +${own.leaf}`);
    await own.close();
  });

  it("distinguishes entries when two sessions use the same id for different ones", async () => {
    const [one, other] = [write(forked), write(forked)];
    const later = jsonLines(userEntry("f", "e", "x"));
    appendFileSync(one, later);
    appendFileSync(other, later.replaceAll(/"timestamp":"[^"]*"/g, '"timestamp":"2001-01-01"'));
    const places = [{ session: await open(one) }, { session: await open(other) }] as const;
    expect(await stepsOf(...places)).toBe("4 e -f +f");
  });

  it("reads only returned bodies", async () => {
    const text = "x".repeat(1_000_000);
    const path = write([{ id: "a", parentId: null, text }, ...forked.slice(1)]);
    const session = await open(path);
    const before = readCounter.bytes;
    expect(await stepsOf({ session, at: "c" }, { session })).toBe("2 b -c +d +e");
    expect(readCounter.bytes - before).toBeLessThan(100_000);
  });

  it("law: the steps of each side, with the common ones, are that branch", async () => {
    const parents = fc.array(fc.nat(), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(parents, fc.nat(), fc.nat(), async (given, one, other) => {
        const links = given.map((parent, n) => ({
          id: `n${n}`,
          parentId: n === 0 || parent % 5 === 0 ? null : `n${parent % n}`,
        }));
        const session = await open(write(links));
        const [from, to] = [`n${one % links.length}`, `n${other % links.length}`];
        const found = { common: 0, removed: [] as string[], added: [] as string[] };
        for await (const step of diffBranches({ session, at: from }, { session, at: to })) {
          if (step.kind === "common") found.common = step.count;
          else found[step.kind].push(step.entry.id);
        }
        const branches = [await session.branch(from), await session.branch(to)];
        const [before = [], after = []] = branches.map((branch) => branch.map(({ id }) => id));
        expect(before.slice(found.common)).toEqual(found.removed);
        expect(after.slice(found.common)).toEqual(found.added);
        expect(before.slice(0, found.common)).toEqual(after.slice(0, found.common));
      }),
      { numRuns: 30 },
    );
  });

  it("omits a damaged entry, and entries above a missing parent", async () => {
    const path = write([...forked, { id: "g", parentId: "missing" }]);
    const [h, i] = [jsonLines(userEntry("h", "e", "broken")), jsonLines(userEntry("i", "h", ""))];
    appendFileSync(path, `${h.replace('"broken"', '"broken')}${i}`);
    const session = await open(path);
    const places = [
      { session, at: "g" },
      { session, at: "i" },
    ] as const;
    expect(await stepsOf(...places)).toBe("0 null -g +a +b +d +e +i");
  });

  it("rejects with ERR_LOG_GONE when the file was removed", async () => {
    const path = write(forked);
    const session = await open(path);
    await session.close();
    rmSync(path);
    const steps = stepsOf({ session, at: "c" }, { session });
    await expect(steps).rejects.toMatchObject({ code: "ERR_LOG_GONE" });
  });
});

const message = (text: string, timestamp = 1): AgentMessage => ({
  ...userMessage(text),
  timestamp,
});

describe("diffContexts", () => {
  it("compares contexts after a compaction, message by message", async () => {
    const path = write(forked);
    appendFileSync(path, jsonLines(compactionEntry("f", "e", "in short", "e")));
    const session = await open(path);
    const steps = await diffContexts({ session, at: "e" }, { session });
    expect(
      steps.map((step) => ("message" in step ? [step.kind, step.message.role] : step)),
    ).toEqual([
      ["removed", "user"],
      ["removed", "user"],
      ["removed", "user"],
      ["added", "compactionSummary"],
      { kind: "common", count: 1 },
    ]);
  });

  it("rejects with ERR_ENTRY_NOT_FOUND when there is no such entry", async () => {
    const session = await open(write(forked));
    const unknown = diffContexts({ session, at: "unknown" }, { session });
    await expect(unknown).rejects.toMatchObject({ code: "ERR_ENTRY_NOT_FOUND" });
  });

  it("treats messages as equal when only times or the order of keys differ", () => {
    const reversed = Object.fromEntries(Object.entries(message("a", 2)).toReversed());
    // The same message as another program wrote it.
    const steps = diffMessages([message("a")], [reversed as unknown as AgentMessage]);
    expect(steps).toEqual([{ kind: "common", count: 1 }]);
    expect(diffMessages([message("a")], [message("b")])).toHaveLength(2);
  });

  it("law: without additions the steps are the first context, without removals the second", () => {
    const texts = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const [from, to] = [one.map((text) => message(text)), other.map((text) => message(text))];
        const steps = diffMessages(from, to);
        expect(replayed(steps, "removed", from)).toEqual(from);
        expect(replayed(steps, "added", to)).toEqual(to);
        const isEqual = steps.every(({ kind }) => kind === "common");
        expect(isEqual).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  it("ends soon when long contexts have nothing in common, and keeps their start", () => {
    const start = [message("a"), message("b")];
    const of = (name: string): AgentMessage[] =>
      Array.from({ length: 3_000 }, (_, n) => message(`${name}${n}`));
    const steps = diffMessages([...start, ...of("x")], [...start, ...of("y")]);
    expect(steps[0]).toEqual({ kind: "common", count: 2 });
    expect(steps.filter(({ kind }) => kind === "removed")).toHaveLength(3_000);
    expect(steps.filter(({ kind }) => kind === "added")).toHaveLength(3_000);
  });
});

/** One of the two contexts, from the steps; common messages from that context itself. */
function replayed(
  steps: ReturnType<typeof diffMessages>,
  side: "removed" | "added",
  whole: readonly AgentMessage[],
): readonly AgentMessage[] {
  const messages: AgentMessage[] = [];
  for (const step of steps) {
    if (step.kind === side) messages.push(step.message);
    else if (step.kind === "common")
      messages.push(...whole.slice(messages.length, messages.length + step.count));
  }
  return messages;
}
