/** The arguments of `pnpm bench`, as typed options. Pure. */
import { parseArgs } from "node:util";
import type { Scale } from "./bench-case.ts";
import { cacheFolderDefault } from "./input-cache.ts";
import type { PeerSet } from "./peer-folders.ts";

/** What to run and where the results go. */
export interface BenchOptions {
  /** Names of cases; empty: all. */
  readonly names: readonly string[];
  readonly scale: Scale;
  readonly runs: number;
  readonly cacheFolder: string;
  readonly jsonPath: string | undefined;
  readonly build: boolean;
  /** Whether cases with inputs of 4 GB run, too. */
  readonly huge: boolean;
  /** Whether, in place of cases, growth is measured. */
  readonly growth: boolean;
  /** What to compare with, installed first if it is not there. */
  readonly peerSets: readonly PeerSet[];
}

/** Two reports to compare. */
export interface ComparedPaths {
  readonly beforePath: string;
  readonly afterPath: string;
}

const runsDefault: Readonly<Record<Scale, number>> = { full: 5, quick: 3 };

/** The text of --help, for cases of the given names. */
export function usage(names: readonly string[]): string {
  return `Usage: pnpm bench [NAME…] [options]
       pnpm bench --growth [options]
       pnpm bench --compare BEFORE.json AFTER.json

Runs every case, or those named. A full run of all cases writes docs/benchmarks/.
--growth measures the same operations at several sizes and says how their costs grow;
in full it writes docs/benchmarks/growth.md.
--compare runs nothing: it exits with 1 if anything of ours got worse by more than
the spread of its runs, or is not answered any more.

      --quick       small inputs, to see that all works
      --runs N      runs of each subject after one warm-up (default 5, quick 3)
      --json FILE   also write the results there
      --cache DIR   where generated inputs are kept (default ${cacheFolderDefault})
      --peers       measure pi and parsers of JSON lines beside ours, in the same
                    run; installs them into packages/bench/peers, 500 MB
      --peers-omp   omp on Bun as well, 1.5 GB more; implies --peers
      --huge        also cases with inputs of 4 GB; a case that is named runs anyway
      --no-build    use packages/*/dist as they are
      --list        name the cases
  -h, --help        this text

Cases: ${names.join(", ")}
`;
}

/** Reads the arguments. Throws RangeError for unknown names, TypeError for unknown options. */
export function parseCommand(
  args: readonly string[],
  names: readonly string[],
): BenchOptions | ComparedPaths | "help" | "list" {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: "boolean" },
      runs: { type: "string" },
      json: { type: "string" },
      cache: { type: "string" },
      "no-build": { type: "boolean" },
      peers: { type: "boolean" },
      "peers-omp": { type: "boolean" },
      list: { type: "boolean" },
      compare: { type: "boolean" },
      growth: { type: "boolean" },
      huge: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) return "help";
  if (values.list === true) return "list";
  if (values.compare === true) {
    refuseBeside("--compare", Object.keys(values), ["compare"]);
    return comparedPaths(positionals);
  }
  if (values.growth === true) {
    const allowed = ["growth", "quick", "runs", "json", "cache", "no-build"];
    refuseBeside("--growth", [...Object.keys(values), ...positionals], allowed);
  }
  const unknown = positionals.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new RangeError(`no case "${unknown}"; there are ${names.join(", ")}`);
  }
  const scale: Scale = values.quick === true ? "quick" : "full";
  const runs = values.runs === undefined ? runsDefault[scale] : Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) throw new RangeError("--runs is a number from 1");
  return {
    names: positionals,
    scale,
    runs,
    cacheFolder: values.cache ?? cacheFolderDefault,
    jsonPath: values.json,
    build: values["no-build"] !== true,
    huge: values.huge === true,
    growth: values.growth === true,
    peerSets: peerSetsOf(values.peers === true, values["peers-omp"] === true),
  };
}

function refuseBeside(mode: string, given: readonly string[], allowed: readonly string[]): void {
  const refused = given.find((name) => !allowed.includes(name));
  if (refused !== undefined) throw new RangeError(`${mode} does not go with ${refused}`);
}

function peerSetsOf(peers: boolean, omp: boolean): readonly PeerSet[] {
  if (omp) return ["peers", "omp"];
  return peers ? ["peers"] : [];
}

function comparedPaths([beforePath, afterPath, ...more]: readonly string[]): ComparedPaths {
  if (beforePath !== undefined && afterPath !== undefined && more.length === 0) {
    return { beforePath, afterPath };
  }
  throw new RangeError("--compare takes two reports: BEFORE.json AFTER.json");
}
