/** The arguments of `pnpm bench`, as typed options. Pure. */
import { parseArgs } from "node:util";
import type { PeerSet, Scale } from "./bench-case.ts";

export interface BenchOptions {
  readonly names: readonly string[];
  readonly scale: Scale;
  readonly runs: number;
  readonly jsonPath: string | undefined;
  readonly build: boolean;
  readonly growth: boolean;
  readonly peerSets: readonly PeerSet[];
}

export function usage(names: readonly string[]): string {
  return `Usage: pnpm bench [NAME…] [options]

Runs every case but growth-* and memory-4*, or those named. A full run of all cases
writes docs/benchmarks/.

      --quick       small inputs, to see that all works
      --runs N      runs of each subject after one warm-up (default 5, quick 3)
      --json FILE   also write the results there
      --peers       measure pi and parsers of JSON lines beside ours, in the same
                    run; installs them into packages/bench/peers, 500 MB
      --peers-omp   omp on Bun as well, 1.5 GB more; implies --peers
      --growth      the cases growth-* in place of the others: costs by size
      --no-build    use packages/*/dist as they are
  -h, --help        this text

Cases: ${names.join(", ")}
`;
}

export function parseCommand(
  args: readonly string[],
  names: readonly string[],
): BenchOptions | "help" {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      runs: { type: "string" },
      json: { type: "string" },
      "no-build": { type: "boolean", default: false },
      peers: { type: "boolean", default: false },
      "peers-omp": { type: "boolean", default: false },
      growth: { type: "boolean", default: false },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) return "help";
  const { quick, growth, peers } = values;
  const omp = values["peers-omp"];
  if (growth && (peers || omp || positionals.length > 0)) {
    throw new RangeError("--growth goes with no names or peers");
  }
  const unknown = positionals.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new RangeError(`no case "${unknown}"; there are ${names.join(", ")}`);
  }
  const runs = Number(values.runs ?? (quick ? 3 : 5));
  if (!Number.isInteger(runs) || runs < 1) throw new RangeError("--runs is a number from 1");
  return {
    names: positionals,
    scale: quick ? "quick" : "full",
    runs,
    jsonPath: values.json,
    build: !values["no-build"],
    growth,
    peerSets: omp ? ["peers", "omp"] : peers ? ["peers"] : [],
  };
}
