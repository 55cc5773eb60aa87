/** A path of an open log as the text of a trajectory, with those of its subagents inside it. */
import { Engine, exportedPath } from "@branchlog/core/engine";
import { isBranchlogError } from "@branchlog/core/errors";
import { promptText, subagentFiles } from "@branchlog/library/catalogs";
import type { Redactor } from "../redaction/redactor.ts";
import { AtifSteps, atifVersion } from "./atif-steps.ts";
import type { AtifStep } from "./atif-steps.ts";
import { redactedEntry } from "./redacted-parts.ts";

interface TrajectoryOptions {
  readonly at?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function* atifTexts(
  engine: Engine,
  options: TrajectoryOptions,
  redactor: Redactor | undefined,
): AsyncGenerator<string, void, undefined> {
  const subagents = await subagentsOf(engine, options.signal);
  const clean = (text: string): string => redactor?.text(text) ?? text;
  // The prompts in the calls have no secrets either.
  const prompts = subagents.map(({ prompt }) => clean(prompt));
  // Of two with one prompt it is unknown which call asked which.
  const isSole = (prompt: string): boolean =>
    prompts.indexOf(prompt) === prompts.lastIndexOf(prompt);
  const idsByPrompt = new Map(
    subagents.flatMap(({ prompt, id }) =>
      isSole(clean(prompt)) ? [[clean(prompt), clean(id)] as const] : [],
    ),
  );
  yield* trajectory(engine, options, { redactor, idsByPrompt });
  if (subagents.length > 0) yield ',"subagent_trajectories":[';
  let separator = "\n";
  for (const { path } of subagents) {
    yield separator;
    separator = ",\n";
    const { signal } = options;
    const subagent = await Engine.openAt(path, { access: "read", checkpoint: "read" }, signal);
    try {
      yield* trajectory(subagent, { signal }, { redactor, idsByPrompt });
      yield "}";
    } finally {
      subagent.release();
    }
  }
  yield subagents.length > 0 ? "]}\n" : "}\n";
}

interface TrajectoryParts {
  readonly redactor: Redactor | undefined;
  /** Of subagents, by what they were asked. */
  readonly idsByPrompt: ReadonlyMap<string, string>;
}

/** Without the brace at its end. */
async function* trajectory(
  engine: Engine,
  { at, signal }: TrajectoryOptions,
  { redactor, idsByPrompt }: TrajectoryParts,
): AsyncGenerator<string, void, undefined> {
  const clean = (text: string): string => redactor?.text(text) ?? text;
  const { name } = engine.log.state;
  const { id, cwd } = engine.header;
  const rows = exportedPath(engine, at);
  const toLast = new Set(at === undefined ? [] : exportedPath(engine, undefined));
  const root = { schema_version: atifVersion, session_id: clean(id), trajectory_id: clean(id) };
  yield `${JSON.stringify(root).slice(0, -1)},"steps":[`;
  const steps = new AtifSteps((prompt) => idsByPrompt.get(prompt));
  let separator = "\n";
  const lineOf = (step: AtifStep): string => {
    const text = `${separator}${JSON.stringify(step)}`;
    separator = ",\n";
    return text;
  };
  let isCopied = false;
  for await (const { row, entry } of engine.bodies.entries(rows, signal)) {
    isCopied = toLast.has(row);
    const shown = redactor ? redactedEntry(redactor, entry, "")[0] : entry;
    yield* steps.take(shown, isCopied).map(lineOf);
  }
  yield* steps.end(isCopied).map(lineOf);
  const model = steps.model === undefined ? {} : { model_name: steps.model };
  const agent = { name: ownerName(engine), version: "unknown", ...model };
  const extra = {
    exported_by: "branchlog",
    cwd: clean(cwd),
    ...(name === undefined ? {} : { name: clean(name) }),
  };
  const end = JSON.stringify({ agent, final_metrics: steps.finalMetrics, extra });
  yield `\n],${end.slice(1, -1)}`;
}

export function ownerName(engine: Engine): string {
  return engine.log.owner?.agent ?? engine.appender.dialect;
}

interface Subagent {
  readonly path: string;
  readonly id: string;
  readonly prompt: string;
}

/** Unreadable ones are omitted, as in a list. */
async function subagentsOf(
  engine: Engine,
  signal: AbortSignal | undefined,
): Promise<readonly Subagent[]> {
  const { owner } = engine.log;
  if (owner === undefined || engine.path.includes("://")) return [];
  const found: Subagent[] = [];
  const { path: parent, header } = engine;
  for (const path of await subagentFiles({ path: parent, id: header.id, agent: owner.agent })) {
    signal?.throwIfAborted();
    try {
      const subagent = await Engine.openAt(path, { access: "read", checkpoint: "read" }, signal);
      try {
        found.push({ path, id: subagent.header.id, prompt: await firstPrompt(subagent) });
      } finally {
        subagent.release();
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isBranchlogError(error)) throw error;
    }
  }
  return found;
}

async function firstPrompt(engine: Engine): Promise<string> {
  const { index } = engine;
  for (let row = 0; row < index.count; row += 1) {
    if (index.kindOf(row).role === "user") return promptText(await engine.bodies.entry(row));
  }
  return "";
}
