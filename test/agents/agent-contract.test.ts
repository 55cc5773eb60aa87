/** The contract of agents, for those that we know and for one that a test makes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { registerAgents } from "@branchlog/core/rows";
import { databaseBytes } from "../support/database-file.ts";
import {
  chatBytes,
  chatPlace,
  editorBytes,
  editorChildId,
  editorId,
  editorPlace,
} from "./cursor/cursor-fixtures.ts";
import { databaseOfSchema, databasePlace as goosePlace } from "./goose/goose-fixtures.ts";
import { opencodeFixture, opencodeTree } from "./opencode/opencode-fixtures.ts";
import { toy } from "./toy/agent.ts";
import { describeAgent } from "./agent-contract.ts";
import type { GoldenSession } from "./agent-contract.ts";

const fixtures = join(import.meta.dirname, "../../fixtures");

function golden(fixture: string, ...places: readonly string[]): GoldenSession {
  const [place = fixture] = places;
  return { title: fixture, files: { [place]: readFileSync(join(fixtures, fixture)) } };
}

const log = (name: string): GoldenSession =>
  golden(`${name}.jsonl`, `2026-01-01T00-00-00-000Z_${name}.jsonl`);

describeAgent({
  name: "pi",
  sessions: ["pi-linear", "pi-branches", "pi-v1", "pi-v2", "pi-compactions-overlapping"].map(log),
});

describeAgent({ name: "omp", sessions: ["omp-jan", "omp-18", "seed-omp"].map(log) });

const project = "projects/-home-dev-shop";
const claudeId = "c1a0de21-0000-4000-8000-000000000001";
const versions = "transcripts/versions";

describeAgent({
  name: "claude",
  sessions: [
    golden(`${versions}/claude-1.0.jsonl`, `${project}/c1a0de01-0000-4000-8000-000000000001.jsonl`),
    golden(`${versions}/claude-2.0.jsonl`, `${project}/c1a0de20-0000-4000-8000-000000000001.jsonl`),
    {
      title: "version 2.1 with a subagent",
      files: {
        [`${project}/${claudeId}.jsonl`]: readFileSync(
          join(fixtures, versions, "claude-2.1.jsonl"),
        ),
        [`${project}/${claudeId}/subagents/agent-a1675717a14cbb80d.jsonl`]: readFileSync(
          join(fixtures, versions, "claude-2.1-agent.jsonl"),
        ),
      },
    },
    ...["conversation", "branches", "compaction", "sidechains"].map((name) =>
      golden(`claude/${name}.jsonl`, `${project}/c1a0de30-0000-4000-8000-000000000001.jsonl`),
    ),
    ...[
      "queued-prompts",
      "injected-texts",
      "preserved-messages",
      "partial-compaction",
      "second-compaction",
      "model-fallback",
      "server-tools",
      "fork",
      "large-result",
      "attached-document",
    ].map((name) => golden(`transcripts/field/${name}.jsonl`, `${project}/${name}.jsonl`)),
  ],
});

const rollout = "sessions/2026/01/05/rollout-2026-01-05T12-00-00";

/** The files of one thread. */
const parts = "transcripts/field/codex-parts";
const thread = "019f1000-0000-7000-8000-0000000000b0";
const threadFiles = {
  last: `sessions/2026/11/20/rollout-2026-11-19T11-00-00-${thread}_019f1000-0000-7000-8000-0000000000b2.jsonl`,
  reverted: `sessions/2026/11/19/rollout-2026-11-19T10-00-00-${thread}_019f1000-0000-7000-8000-0000000000b1.jsonl`,
  first: `sessions/2026/11/19/rollout-2026-11-19T09-00-00-${thread}.jsonl`,
};

function threadOf(title: string, ...names: readonly (keyof typeof threadFiles)[]): GoldenSession {
  const bytesOf = (name: string): Buffer => readFileSync(join(fixtures, parts, `${name}.jsonl`));
  const files = names.map((name) => [threadFiles[name], bytesOf(name)] as const);
  return { title, files: Object.fromEntries(files) };
}

describeAgent({
  name: "codex",
  sessions: [
    ...["codex-0.23", "codex-0.65", "codex-0.154"].map((name) => `${versions}/${name}.jsonl`),
    "codex/conversation.jsonl",
    "codex/rollback.jsonl",
    "codex/compaction.jsonl",
    "transcripts/field/codex-script.jsonl",
    "transcripts/field/codex-review.jsonl",
    "transcripts/field/codex-context.jsonl",
    "transcripts/field/codex-copy.jsonl",
  ]
    .map((name) => golden(name, `${rollout}-3c4b3010-27c8-4c70-b6e4-46b99fdf0236.jsonl`))
    .concat(golden("codex/conversation.jsonl.zst", `${rollout}-${thread}.jsonl.zst`))
    .concat(threadOf("a thread in three files", "last", "reverted", "first")),
});

const { bytes: opencodeBytes, place: opencodePlace } = await opencodeFixture("1.18.33");
const earlierOpencode = await opencodeFixture("1.2.27");

describeAgent({
  name: "opencode",
  sessions: [
    ...["ses_dd9aa6119ffe5CHsRM7LE678XU", "ses_dd9aa44deffeHRI9Nl7TfXGza3"].map((id) => ({
      title: id,
      files: { [opencodePlace]: opencodeBytes },
      address: `${opencodePlace}#${id}`,
    })),
    {
      title: "version 1.2.27, the first with a database",
      files: { [earlierOpencode.place]: earlierOpencode.bytes },
      address: `${earlierOpencode.place}#ses_dd9aa0da5ffeYEKJ4pMkjSlorR`,
    },
    {
      title: "version 1.1.65 in files of JSON",
      files: opencodeTree("ses_dd9a9f4b9ffekIYuiOBwPiIy2x"),
    },
  ],
});

const copilotPlace = "session-state/5ae96c50-ccb4-456a-b56f-17653f833540";

describeAgent({
  name: "copilot",
  sessions: [
    ...["copilot-1.0.20", "copilot-1.0.60", "shell-command"].map((name) =>
      golden(`copilot/${name}.jsonl`, `${copilotPlace}/events.jsonl`),
    ),
    {
      title: "version 1.0.102 with what belongs to it",
      files: {
        [`${copilotPlace}/events.jsonl`]: readFileSync(
          join(fixtures, "copilot/copilot-1.0.102.jsonl"),
        ),
        [`${copilotPlace}/workspace.yaml`]: Buffer.from("name: Rates\nuser_named: true\n"),
        [`${copilotPlace}/checkpoints/001-rates.md`]: Buffer.from("# Rates\n"),
      },
    },
    golden(
      "copilot/copilot-1.0.60.jsonl",
      "session-state/5c46f684-10ff-4a13-abb8-c08ca3e37aef.jsonl",
    ),
  ],
});

const qwenId = "1137f3dd-1132-482f-b210-7f3e511d0b2d";
const qwenProject = "projects/-home-dev-shop";

describeAgent({
  name: "qwen",
  sessions: [
    golden("qwen/session-0.1.4.json", "tmp/shop/chats/session-2026-11-29T11-42-ac71bf68.json"),
    golden(
      "qwen/qwen-0.15.10.jsonl",
      `${qwenProject}/chats/e37a9d47-37c8-478b-a2a8-1e22b46315c7.jsonl`,
    ),
    {
      title: "version 0.24.4 with a subagent",
      files: {
        [`${qwenProject}/chats/${qwenId}.jsonl`]: readFileSync(
          join(fixtures, "qwen/qwen-0.24.4.jsonl"),
        ),
        [`${qwenProject}/subagents/${qwenId}/agent-general-purpose-call_7_0.jsonl`]: readFileSync(
          join(fixtures, "qwen/qwen-0.24.4-agent.jsonl"),
        ),
      },
    },
  ],
});

const geminiParent = "tmp/shop/chats/session-2026-11-29T05-07-208108bc.jsonl";
const geminiAgent =
  "tmp/shop/chats/208108bc-e27f-47fb-9f7d-7e281f9de983/6b8eaf64-9d2e-4c7f-bcbe-40dacbbc3565.jsonl";

describeAgent({
  name: "gemini",
  sessions: [
    golden("gemini/gemini-0.61.0.jsonl", "tmp/shop/chats/session-2026-11-29T04-19-bda62529.jsonl"),
    golden("gemini/session-0.30.0.json", "tmp/shop/chats/session-2026-11-29T04-13-0b6ad7a1.json"),
    {
      title: "version 0.61.0 with a subagent",
      files: {
        [geminiParent]: readFileSync(join(fixtures, "gemini/gemini-0.61.0-parent.jsonl")),
        [geminiAgent]: readFileSync(join(fixtures, "gemini/gemini-0.61.0-agent.jsonl")),
      },
    },
  ],
});

const kimiSession = "sessions/wd_shop_77b27a6388c4/session_e361c273-f638-41cc-8c93-2710a00dcdc6";

describeAgent({
  name: "kimi",
  sessions: [
    {
      title: "version 2.1.0 with a subagent",
      files: {
        [`${kimiSession}/agents/main/wire.jsonl`]: readFileSync(
          join(fixtures, "kimi/kimi-2.1.0.jsonl"),
        ),
        [`${kimiSession}/agents/agent-0/wire.jsonl`]: readFileSync(
          join(fixtures, "kimi/kimi-2.1.0-agent.jsonl"),
        ),
        [`${kimiSession}/state.json`]: Buffer.from(
          '{"title":"Rates of the shop","isCustomTitle":true}',
        ),
      },
    },
  ],
});

const earlierKimi =
  "sessions/11e9fe063b91149eb10c6daf331adfaa/0b9f0a52-0000-4000-8000-000000000001";

describeAgent({
  name: "kimi",
  sessions: [
    {
      title: "version 1.49 of kimi-cli with a sub-agent",
      files: {
        [`${earlierKimi}/wire.jsonl`]: readFileSync(join(fixtures, "kimi/kimi-cli-1.49.jsonl")),
        [`${earlierKimi}/subagents/a1b2c3/wire.jsonl`]: readFileSync(
          join(fixtures, "kimi/kimi-cli-1.49-agent.jsonl"),
        ),
        [`${earlierKimi}/state.json`]: Buffer.from('{"custom_title":"Rates of the shop"}'),
        [`${earlierKimi}/context.jsonl`]: Buffer.from(
          '{"role":"user","content":"The rates are 5 and 7."}\n',
        ),
      },
    },
  ],
});

const droidName = "sessions/-home-dev-shop/6c378d42-94d2-421d-aa58-5f4b2061e840";

describeAgent({
  name: "droid",
  sessions: [
    {
      title: "version 0.215.0 with its settings",
      files: {
        [`${droidName}.jsonl`]: readFileSync(join(fixtures, "droid/droid-0.215.0.jsonl")),
        [`${droidName}.settings.json`]: Buffer.from("{}"),
      },
    },
  ],
});

const cursorProject = ".cursor/projects/home-dev-shop";
const cursorId = "5a1b2c3d-0000-4000-8000-000000000001";
const editorFiles = { [editorPlace]: await editorBytes() };
const cursorPlace = `${cursorProject}/agent-transcripts/${cursorId}`;

describeAgent({
  name: "cursor",
  sessions: [
    golden(
      "cursor/transcript-2026-02.jsonl",
      `${cursorProject}/agent-transcripts/${cursorId}.jsonl`,
    ),
    {
      title: "a transcript of July 2026 with a subagent",
      files: {
        [`${cursorPlace}/${cursorId}.jsonl`]: readFileSync(
          join(fixtures, "cursor/transcript-2026-07.jsonl"),
        ),
        [`${cursorPlace}/subagents/5a1b2c3d-0000-4000-8000-000000000002.jsonl`]: readFileSync(
          join(fixtures, "cursor/transcript-2026-07-agent.jsonl"),
        ),
      },
    },
    {
      title: "a chat of its command",
      files: {
        [chatPlace]: await chatBytes(),
        [chatPlace.replace("store.db", "meta.json")]: Buffer.from('{"cwd":"/home/dev/shop"}'),
      },
    },
    ...[editorId, editorChildId].map((id) => ({
      title: `${id} of its editor`,
      files: editorFiles,
      address: `${editorPlace}#${id}`,
    })),
  ],
});

const clineSession = "1795941218519_16gyt";

describeAgent({
  name: "cline",
  sessions: [
    {
      title: "version 3.0.65 with a subagent and a compaction",
      files: Object.fromEntries(
        [
          `${clineSession}.messages.json`,
          `${clineSession}.json`,
          `${clineSession}.compaction.json`,
          "agent_1795941239166_2drg7k.messages.json",
        ].map((name) => [
          `sessions/${clineSession}/${name}`,
          readFileSync(join(fixtures, "cline", clineSession, name)),
        ]),
      ),
    },
    {
      title: "a task of the extension of VS Code",
      files: Object.fromEntries(
        ["api_conversation_history.json", "ui_messages.json", "task_metadata.json"].map((name) => [
          `saoudrizwan.claude-dev/tasks/1770000000000/${name}`,
          readFileSync(join(fixtures, "cline/tasks/1770000000000", name)),
        ]),
      ),
    },
  ],
});

const gooseBytes = { 3: await databaseOfSchema(3), 17: await databaseOfSchema(17) };

function gooseSession(schema: 3 | 17, id: string): GoldenSession {
  const files = { [goosePlace]: gooseBytes[schema] };
  return { title: `${id} of schema ${schema}`, files, address: `${goosePlace}#${id}` };
}

describeAgent({
  name: "goose",
  sessions: [
    gooseSession(17, "20261128_1"),
    gooseSession(17, "20261128_2"),
    gooseSession(17, "20261128_5"),
    gooseSession(17, "20261128_6"),
    gooseSession(3, "20251008_1"),
    golden("goose/goose-1.9.jsonl", "goose/sessions/20250905_081320.jsonl"),
  ],
});

const crushPlace = "shop/.crush/crush.db";
const crushDump = readFileSync(join(fixtures, "crush/crush-20260127.sql"), "utf8");
const crushFiles = { [crushPlace]: await databaseBytes(crushDump) };

describeAgent({
  name: "crush",
  sessions: [
    "0b6e3c1a-7a52-4c0e-9d6f-2f1f0c9a1b11",
    "5d0c0005-1111-4222-8333-944445555666$$functions.agent:0",
  ].map((id) => ({ title: id, files: crushFiles, address: `${crushPlace}#${id}` })),
});

// All of a new agent: its folder, and this line.
const end = registerAgents([toy]);
afterAll(end);

const talk = [
  { talk: "0a1b2c3d", cwd: "/home/dev/shop", at: "2026-01-05T09:00:00.000Z", title: "A talk" },
  { key: "k1", at: "2026-01-05T09:00:01.000Z", who: "me", says: "Which files are the largest?" },
  {
    key: "k2",
    under: "k1",
    at: "2026-01-05T09:00:04.000Z",
    says: "Those of the build.",
    took: 9,
    gave: 4,
  },
  {
    key: "k3",
    under: "k2",
    at: "2026-01-05T09:00:09.000Z",
    who: "me",
    says: "Please delete them.",
  },
  {
    key: "k4",
    under: "k3",
    at: "2026-01-05T09:00:12.000Z",
    says: "Nothing is left of it.",
    took: 20,
    gave: 5,
  },
];
const branch = {
  key: "k5",
  under: "k1",
  at: "2026-01-05T09:01:00.000Z",
  says: "The logs, in fact.",
  took: 3,
  gave: 3,
};

const talkOf = (title: string, lines: readonly object[]): GoldenSession => {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  return { title, files: { "talks/one.jsonl": Buffer.from(text) } };
};

describeAgent({
  name: "toy",
  sessions: [talkOf("a talk", talk), talkOf("a talk with a branch", [...talk, branch])],
});

describeAgent({
  name: "connectonion",
  sessions: [
    ...["ideal", "dumped", "nested"].map((name) =>
      golden(`connectonion-${name}.yaml`, ".co/sessions/agent.yaml"),
    ),
    {
      title: "an eval with a run",
      files: {
        ".co/evals/count_the_carts.yaml": readFileSync(
          join(fixtures, "connectonion-eval/count_the_carts.yaml"),
        ),
        ".co/evals/count_the_carts/run_2.yaml": readFileSync(
          join(fixtures, "connectonion-eval/count_the_carts/run_2.yaml"),
        ),
      },
    },
  ],
});
