/**
 * Runs steps side by side on a fixed number of cores and reports them in the order of the list.
 * A step starts when those it names in `after` have ended and those in `needs` have passed; it
 * is skipped if one of the latter did not.
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";

import { root } from "./packages.mjs";

/**
 * @typedef {import("./steps.mjs").Step} Step
 * @typedef {"ok" | "failed" | "skipped"} Outcome
 *
 * @typedef {object} StepResult
 * @property {Step} step
 * @property {Outcome} outcome
 * @property {number} seconds
 * @property {string} output What it printed; for a skipped one, why.
 * @property {import("./steps.mjs").Counts} counts
 */

/** Processes that run now, as leaders of their groups. @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();

/** Stops every step that runs now, with all processes it started. */
export function stopChildren() {
  for (const child of children) stop(child);
}

/**
 * @param {readonly Step[]} steps
 * @param {{ onResult: (result: StepResult) => void, cores?: number }} options
 * @returns {Promise<StepResult[]>} In the order of `steps`.
 */
export async function runSteps(steps, { onResult, cores = Math.min(2, availableParallelism()) }) {
  /** @type {Map<string, StepResult>} */
  const results = new Map();
  const running = new Map();
  let waiting = [...steps];
  let coresFree = cores;
  let reported = 0;

  while (results.size < steps.length) {
    for (const step of waiting) {
      const state = readiness(step, results);
      const coresWanted = Math.min(step.cores ?? 1, cores);
      if (state.blockedBy !== null) {
        results.set(step.name, skipped(step, state.blockedBy));
        waiting = waiting.filter((other) => other !== step);
      } else if (state.ready && coresWanted <= coresFree) {
        coresFree -= coresWanted;
        waiting = waiting.filter((other) => other !== step);
        const finish = (result) => ({ result, coresWanted });
        running.set(step.name, runStep(step).then(finish));
      }
    }
    for (; reported < steps.length && results.has(steps[reported].name); reported += 1) {
      onResult(results.get(steps[reported].name));
    }
    if (running.size === 0) continue;
    const { result, coresWanted } = await Promise.race(running.values());
    running.delete(result.step.name);
    results.set(result.step.name, result);
    coresFree += coresWanted;
  }
  for (; reported < steps.length; reported += 1) onResult(results.get(steps[reported].name));
  return steps.map((step) => results.get(step.name));
}

/** Whether a step may start, or which of the steps it waits for did not pass. */
function readiness(step, results) {
  const needs = step.needs ?? [];
  const blockedBy = needs.find((name) => results.has(name) && results.get(name).outcome !== "ok");
  const ready = [...needs, ...(step.after ?? [])].every((name) => results.has(name));
  return { ready, blockedBy: blockedBy ?? null };
}

/** @returns {StepResult} */
function skipped(step, blockedBy) {
  const counts = { passed: 0, failed: 0, skipped: 1 };
  return { step, outcome: "skipped", seconds: 0, output: `needs "${blockedBy}"`, counts };
}

/** @param {Step} step @returns {Promise<StepResult>} */
function runStep(step) {
  const [program, ...args] = step.command;
  const started = performance.now();
  const chunks = [];
  const { promise, resolve } = withResolvers();
  const child = spawn(program, args, {
    cwd: root,
    env: stepEnvironment(process.env),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  children.add(child);
  const secondsMax = step.secondsMax ?? 300;
  const timer = setTimeout(() => {
    chunks.push(`\nStopped after ${secondsMax} s.\n`);
    stop(child);
  }, secondsMax * 1000);
  const finish = (ok) => {
    clearTimeout(timer);
    children.delete(child);
    const seconds = (performance.now() - started) / 1000;
    const counts = step.count?.(ok) ?? { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
    const outcome = ok ? "ok" : "failed";
    resolve({ step, outcome, seconds, output: chunks.join("").trimEnd(), counts });
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => chunks.push(text));
  }
  child.on("error", (error) => {
    chunks.push(`${error.message}\n`);
    finish(false);
  });
  child.on("close", (code) => finish(code === 0));
  return promise;
}

/** The workspace's tools come first on the path; output is plain because it may be kept. */
function stepEnvironment(environment) {
  const { FORCE_COLOR: _, ...rest } = environment;
  const path = [join(root, "node_modules", ".bin"), environment.PATH].join(delimiter);
  return { ...rest, PATH: path, NO_COLOR: "1" };
}

function stop(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

/** Promise.withResolvers, which Node 20 does not have. */
function withResolvers() {
  let resolve;
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
