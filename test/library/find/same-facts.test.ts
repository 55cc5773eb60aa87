/**
 * What a list shows of a session's messages, models, tokens and cost, for every agent: against sums
 * that are made here from the lines of the files, and against what opening the file says.
 */
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSessions } from "@branchlog/library";
import { sessions$ } from "@branchlog/library/live";
import type { ListedSession } from "@branchlog/library";
import { openSession } from "@branchlog/core";
import { usageStatistics } from "@branchlog/tools";
import { filter, firstValueFrom } from "rxjs";
import { everyCase } from "../../support/law-time.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { assistant, header, jsonl, message, user } from "../catalog/session-lines.ts";

const fixtures = join(import.meta.dirname, "../../../fixtures");

type Fields = Readonly<Record<string, unknown>>;

interface Sums {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cost: number;
}

function fieldsOf(value: unknown): Fields {
  // Whatever a file holds: fields are read one by one.
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function numberAt(fields: Fields, key: string): number {
  const value = fields[key];
  return typeof value === "number" ? value : 0;
}

function recordsIn(path: string): readonly Fields[] {
  const lines = readFileSync(path, "utf8")
    .replace(/^\uFEFF/u, "")
    .split("\n");
  return lines.flatMap((line) => {
    try {
      return [fieldsOf(JSON.parse(line))];
    } catch {
      return [];
    }
  });
}

function sumOf(all: readonly Sums[]): Sums {
  const of = (key: keyof Sums): number => all.reduce((sum, one) => sum + one[key], 0);
  const [input, output, cost] = [of("input"), of("output"), of("cost")];
  return { input, output, cacheRead: of("cacheRead"), cacheWrite: of("cacheWrite"), cost };
}

function storedSums(usage: Fields): Sums {
  const of = (key: string): number => numberAt(usage, key);
  const cost = numberAt(fieldsOf(usage["cost"]), "total");
  const [input, output] = [of("input"), of("output")];
  return { input, output, cacheRead: of("cacheRead"), cacheWrite: of("cacheWrite"), cost };
}

/** Of pi and omp. */
function sumsOfLog(path: string): Sums {
  const spending = ["usage", "model_usage", "compaction", "branch_summary"];
  const stored = recordsIn(path).flatMap((record) => {
    const said = fieldsOf(record["message"]);
    const spends = said["role"] === "assistant" || said["role"] === "toolResult";
    if (record["type"] === "message" && spends) return [fieldsOf(said["usage"])];
    return spending.some((type) => type === record["type"]) ? [fieldsOf(record["usage"])] : [];
  });
  return sumOf(stored.map(storedSums));
}

async function onlySession(directory: string): Promise<ListedSession> {
  const { sessions } = await findSessions([directory], { catalog: "off" });
  const [session, ...others] = sessions;
  expect(others).toEqual([]);
  if (session === undefined) throw new Error("no session is listed");
  return session;
}

async function requireSums(path: string, directory: string, expected: Sums): Promise<void> {
  const { usage } = await onlySession(directory);
  const { cost, ...tokens } = expected;
  expect(usage?.total).toMatchObject(tokens);
  expect(usage?.total.cost).toBeCloseTo(cost, 12);
  await using session = await openSession(path, { access: "read" });
  expect(usage?.total).toEqual((await session.usage).total);
  const { total } = await usageStatistics([directory], { only: path });
  expect(total).toMatchObject(tokens);
  expect(total.cost).toBeCloseTo(cost, 12);
}

const logs = readdirSync(fixtures).filter((name) => /^(pi|omp|seed)-.*\.jsonl$/.test(name));

describe("the usage of a session of pi or omp", () => {
  // Of these, entries are repeated in the file.
  const repeated = ["pi-duplicate-ids.jsonl"];

  it.each(logs.filter((name) => !repeated.includes(name)))(
    "is in a list as in %s",
    async (name) => {
      const directory = temporaryDirectory();
      const path = join(directory, name);
      copyFileSync(join(fixtures, name), path);
      await requireSums(path, directory, sumsOfLog(path));
    },
  );

  it("includes the usage of a tool, in any order of keys", async () => {
    const usage = { input: 4000, output: 400, cacheRead: 0, cacheWrite: 0, cost: { total: 4 } };
    const tail = { isError: false, timestamp: 1_780_302_793_086 };
    const lines = [
      header(),
      user("q"),
      assistant([]),
      message("toolResult", [], { ...tail, usage }),
      message("toolResult", [], { usage, ...tail }),
      message("toolResult", [], { details: { usage: 1 }, ...tail }),
      message("toolResult", [], tail),
    ];
    const directory = temporaryDirectory();
    const path = join(directory, "s.jsonl");
    writeFileSync(path, jsonl(lines));
    const own = { input: 3, output: 5, cacheRead: 7, cacheWrite: 11, cost: 0.75 };
    await requireSums(path, directory, sumOf([own, storedSums(usage), storedSums(usage)]));
    expect((await onlySession(directory)).summary.messageCount).toBe(6);
  });

  it("is the same for any growth of the file", async () => {
    const counts = fc.record({
      input: fc.nat(),
      output: fc.nat(),
      cacheRead: fc.nat(),
      cacheWrite: fc.nat(),
      cost: fc.record({ total: fc.double({ min: 0, max: 1e6, noNaN: true }) }),
    });
    const model = fc.constantFrom("m-1", "m-2", "<synthetic>", "ü");
    const answer = fc
      .record({ model, usage: counts })
      .map((of) =>
        message("assistant", [], { provider: "p", ...of, stopReason: "stop", timestamp: 1 }),
      );
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { maxLength: 12 }), fc.nat(), async (answers, cut) => {
        const text = jsonl([header(), ...answers]);
        const directory = temporaryDirectory();
        const path = join(directory, "s.jsonl");
        const at = text.indexOf("\n") + 1 + (cut % (text.length - text.indexOf("\n")));
        writeFileSync(path, text.slice(0, at));
        const lists = sessions$(directory, { pollMs: 5 });
        const seen = firstValueFrom(
          lists.pipe(filter(({ sessions }) => sessions[0]?.sizeBytes === Buffer.byteLength(text))),
        );
        await findSessions([directory]);
        writeFileSync(path, text.slice(at), { flag: "a" });
        const [grown] = (await seen).sessions;
        expect(grown?.usage).toEqual((await onlySession(directory)).usage);
        expect(sumsOfLog(path)).toMatchObject({ input: grown?.usage?.total.input });
      }),
      { numRuns: 15, ...everyCase },
    );
  });
});

const claudeId = "c1a0de57-0000-4000-8000-000000000001";

/** Three prompts, each answered in two records with one message id. */
function claudeLines(): readonly object[] {
  let parentUuid: string | null = null;
  let place = 0;
  return ["a", "b", "c"].flatMap((turn) =>
    ["prompt", "thinking", "text"].map((part) => {
      const uuid = `${turn}-${part}`;
      place += 1;
      const timestamp = new Date(Date.UTC(2026, 0, 5, 9, 0, place)).toISOString();
      const shared = { parentUuid, uuid, sessionId: claudeId, cwd: "/w", timestamp };
      parentUuid = uuid;
      if (part === "prompt") {
        return { ...shared, type: "user", message: { role: "user", content: `Ask ${turn}.` } };
      }
      const isText = part === "text";
      const block = isText
        ? { type: "text", text: "Done." }
        : { type: "thinking", thinking: "Hm." };
      // The first record of an answer has what was counted until then.
      const usage = {
        input_tokens: 10,
        output_tokens: isText ? 430 : 1,
        cache_read_input_tokens: 80,
        cache_creation_input_tokens: 5,
      };
      const model = turn === "b" ? "claude-opus-4-5" : "claude-sonnet-4-5";
      const said = { id: `msg_${turn}`, role: "assistant", model, content: [block], usage };
      return { ...shared, type: "assistant", message: said };
    }),
  );
}

describe("the usage of a transcript of Claude Code", () => {
  it("counts an answer of several records as one message and one request", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, `${claudeId}.jsonl`);
    writeFileSync(path, jsonl(claudeLines()));
    const each = { input: 10, output: 430, cacheRead: 80, cacheWrite: 5, cost: 0 };
    await requireSums(path, directory, sumOf([each, each, each]));
    const listed = await onlySession(directory);
    expect(listed.summary.messageCount).toBe(6);
    expect(listed.usage?.total.requests).toBe(3);
    expect(listed.usage?.models).toEqual(["claude-sonnet-4-5", "claude-opus-4-5"]);
    await using session = await openSession(path, { access: "read" });
    expect((await session.summary).messageCount).toBe(6);
  });

  it.each(["transcripts/field/model-fallback.jsonl", "claude/conversation.jsonl"])(
    "equals that of the records of %s, each answer once",
    async (name) => {
      const directory = temporaryDirectory();
      const path = join(directory, basename(name));
      copyFileSync(join(fixtures, name), path);
      const answers = new Map<unknown, { readonly model: unknown; readonly sums: Sums }>();
      for (const record of recordsIn(path)) {
        const said = fieldsOf(record["message"]);
        if (record["type"] !== "assistant") continue;
        const usage = fieldsOf(said["usage"]);
        const sums = {
          input: numberAt(usage, "input_tokens"),
          output: numberAt(usage, "output_tokens"),
          cacheRead: numberAt(usage, "cache_read_input_tokens"),
          cacheWrite: numberAt(usage, "cache_creation_input_tokens"),
          cost: 0,
        };
        const before = answers.get(said["id"]);
        if (before === undefined || sums.output >= before.sums.output) {
          answers.set(said["id"], { model: said["model"], sums });
        }
      }
      await requireSums(path, directory, sumOf([...answers.values()].map(({ sums }) => sums)));
      // Claude Code has it where no model answered.
      const models = new Set([...answers.values()].map(({ model }) => model));
      models.delete("<synthetic>");
      expect(new Set((await onlySession(directory)).usage?.models)).toEqual(models);
    },
  );
});

describe("the usage of a rollout of Codex", () => {
  it("is the sum of the counts of its requests", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "rollout-2026-01-05T09-00-00-conversation.jsonl");
    copyFileSync(join(fixtures, "codex/conversation.jsonl"), path);
    const seen = new Set<string>();
    const counted = recordsIn(path).flatMap((record) => {
      const payload = fieldsOf(record["payload"]);
      const info = fieldsOf(payload["info"]);
      const total = JSON.stringify(info["total_token_usage"]);
      if (payload["type"] !== "token_count" || seen.has(total)) return [];
      seen.add(total);
      const last = fieldsOf(info["last_token_usage"]);
      const cacheRead = numberAt(last, "cached_input_tokens");
      const input = numberAt(last, "input_tokens") - cacheRead;
      return [
        { input, output: numberAt(last, "output_tokens"), cacheRead, cacheWrite: 0, cost: 0 },
      ];
    });
    await requireSums(path, directory, sumOf(counted));
  });
});

describe("the models of a list", () => {
  it("exclude one that only generated a title, and one that gave no answer", async () => {
    const spent = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: 1 } };
    const directory = temporaryDirectory();
    const title = { type: "model_usage", id: "0000aaaa", parentId: null, provider: "p" };
    const lines = [header(), user("q"), assistant([]), { ...title, model: "small", usage: spent }];
    writeFileSync(join(directory, "s.jsonl"), jsonl(lines));
    const { usage } = await onlySession(directory);
    expect(usage?.models).toEqual(["m"]);
    expect(usage?.total.cost).toBe(1.75);
    expect(usage?.byModel.get("p")?.get("small")).toMatchObject({ cost: 1 });
  });
});
