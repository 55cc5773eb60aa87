/**
 * The same question asked of logs of other shapes than the usual one, with the usual one beside.
 */
import {
  type BenchCase,
  type CaseDefinition,
  type CaseInput,
  defineCase,
  type InputSpec,
  type Scale,
  type TimedWork,
} from "./bench-case.ts";
import { middleSession } from "./inputs.ts";

/** A shape, and a log of it. */
interface ShapedInput {
  readonly name: string;
  readonly input: (scale: Scale) => InputSpec;
}

const seed = 7;

/** The usual shape first, which the others are compared with. */
const shapes: readonly ShapedInput[] = [
  { name: "the usual shape", input: middleSession },
  {
    name: "ids of 21 characters",
    input: (scale) => ({ ...middleSession(scale), idStyle: "nanoid" }),
  },
  {
    name: "ids of 72 characters",
    input: (scale) => ({ ...middleSession(scale), idStyle: "long" }),
  },
  {
    name: "100,000 branches of one entry",
    input: (scale) => ({ shape: "fan-out", entries: scale === "full" ? 100_001 : 5_001, seed }),
  },
  {
    name: "a chain of 1,000,000",
    input: (scale) => ({ shape: "chain", entries: scale === "full" ? 1_000_000 : 20_000, seed }),
  },
];

/** Makes the case: one subject for each shape, all of them answered by `prepare`. */
export function shapeQuestion<Result>(
  definition: Omit<CaseDefinition<Result>, "subjects" | "input" | "nodeFlags"> & {
    readonly prepare: (input: CaseInput) => TimedWork<Result> | Promise<TimedWork<Result>>;
  },
): BenchCase {
  const { prepare, ...rest } = definition;
  return defineCase<Result>({
    ...rest,
    nodeFlags: [],
    input: middleSession,
    subjects: shapes.map(({ name, input }) => ({ name, role: "ours", input, prepare })),
  });
}
