/** Brings what was decided about a whole log into the steps that its lines gave. Pure, linear. */
import { addedLine } from "./added-line.ts";
import type { HeaderStep, KeepStep, RepairStep, StandInStep } from "./repair-plan.ts";

/** The steps, with those at the given positions set aside as repeated records. */
export function withoutRepetitions(
  steps: readonly RepairStep[],
  repeated: ReadonlySet<number>,
): readonly RepairStep[] {
  if (repeated.size === 0) return steps;
  return steps.map((step, i) => {
    if (step.kind !== "recover" || !repeated.has(i)) return step;
    const { offset, length, line, id } = step;
    return { kind: "set-aside", offset, length, line, reason: "repeated", id };
  });
}

/** The steps, with lines added between them. @param additions In the order of their offsets. */
export function withAdditions(
  steps: readonly RepairStep[],
  additions: readonly (HeaderStep | StandInStep)[],
): readonly RepairStep[] {
  if (additions.length === 0) return steps;
  const result: RepairStep[] = [];
  let next = 0;
  for (const step of steps) {
    let rest: RepairStep = step;
    for (let add = additions[next]; add !== undefined; add = additions[next]) {
      const inside = add.offset - rest.offset;
      if (inside > 0) {
        if (rest.kind !== "keep" || inside >= rest.length) break;
        const [before, behind] = split(rest, inside);
        result.push(before);
        rest = behind;
      }
      result.push(add);
      next += 1;
    }
    result.push(rest);
  }
  return result;
}

function split({ kind, offset, length }: KeepStep, at: number): readonly [KeepStep, KeepStep] {
  return [
    { kind, offset, length: at },
    { kind, offset: offset + at, length: length - at },
  ];
}

/** Length of the log that the steps make. */
export function repairedBytes(steps: readonly RepairStep[]): number {
  let bytes = 0;
  for (const step of steps) bytes += bytesOf(step);
  return bytes;
}

function bytesOf(step: RepairStep): number {
  switch (step.kind) {
    case "keep":
      return step.length;
    case "recover":
      return step.length + (step.addsNewline ? 1 : 0);
    case "terminate":
      return 1;
    case "set-aside":
      return 0;
    case "header":
    case "stand-in":
      return addedLine(step).length;
  }
}
