/**
 * `@branchlog/agents`: every agent whose sessions are known. Importing it registers them, in the
 * order in which lists and filters name them.
 */
import { registerAgents } from "@branchlog/core/rows";
import { claude } from "./claude/agent.ts";
import { cline } from "./cline/agent.ts";
import { codex } from "./codex/agent.ts";
import { connectonion } from "./connectonion/agent.ts";
import { copilot } from "./copilot/agent.ts";
import { crush } from "./crush/agent.ts";
import { cursor } from "./cursor/agent.ts";
import { droid } from "./droid/agent.ts";
import { gemini } from "./gemini/agent.ts";
import { goose } from "./goose/agent.ts";
import { kimi } from "./kimi/agent.ts";
import { omp } from "./omp/agent.ts";
import { opencode } from "./opencode/agent.ts";
import { qwen } from "./qwen/agent.ts";
import { pi } from "./pi/agent.ts";

registerAgents([
  pi,
  omp,
  claude,
  codex,
  copilot,
  gemini,
  qwen,
  opencode,
  kimi,
  droid,
  cline,
  goose,
  crush,
  cursor,
  connectonion,
]);
