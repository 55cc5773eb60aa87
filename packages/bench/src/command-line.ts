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
  /** The URL of the PostgreSQL server for the cases of stores. */
  readonly stores: string | undefined;
  readonly peerSets: readonly PeerSet[];
}

export function usage(names: readonly string[]): string {
  return `Usage: pnpm bench [NAME…] [options]

Runs every case but growth-*, store-*, memory-4* and search-10gb*, or those named. A full run
of all cases writes docs/benchmarks/.

      --quick       small inputs, to see that all works
      --runs N      runs of each subject after one warm-up (default 5, quick 3)
      --json FILE   also write the results there
      --peers       measure pi and parsers of JSON lines beside ours, in the same
                    run; installs them into packages/bench/peers, 500 MB
      --peers-omp   omp on Bun as well, 1.5 GB more; implies --peers
      --growth      the cases growth-* in place of the others: costs by size
      --stores URL  the cases store-* in place of the others, on this PostgreSQL
                    server, in a database of their own that is dropped again
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
      stores: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) return "help";
  const { quick, growth, peers } = values;
  const omp = values["peers-omp"];
  if (growth && (peers || omp || positionals.length > 0)) {
    throw new RangeError("--growth goes with no names or peers");
  }
  const { stores } = values;
  if (stores !== undefined && !/^postgres(ql)?:\/\//.test(stores)) {
    throw new RangeError("--stores takes postgres://user@host:port/database");
  }
  if (stores !== undefined && (growth || peers || omp)) {
    throw new RangeError("--stores goes with no --growth or --peers: it brings its own");
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
    stores,
    peerSets: stores !== undefined ? ["stores"] : omp ? ["peers", "omp"] : peers ? ["peers"] : [],
  };
}
