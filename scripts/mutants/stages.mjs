/**
 * The stages whose code is changed by `npm run test:mutants`: which files, and the tests that answer
 * for them. Left out are tests that start processes, since those run on dist, which is not changed,
 * and those that take long and reach no line that others do not reach, as forged checkpoints do.
 */
const core = (folder, names = "*") => `packages/core/src/${folder}/${names}.ts`;
const tests = (folder, names = "*") => `test/${folder}/${names}.test.ts`;

/** @type {Readonly<Record<string, { mutate: readonly string[], tests: readonly string[] }>>} */
export const stages = {
  framing: {
    mutate: [
      "packages/streaming/src/{line-framer,long-line,reads,steps}.ts",
      "packages/streaming/src/{decode-line,read-file}.ts",
    ],
    tests: [tests("streaming", "{decode-line,line-framer,read-*,scan,steps,streams}")],
  },
  store: {
    mutate: [core("store", "!(ids)")],
    tests: [
      tests("core/store", "!(lockfile-lock-processes|stopped-holders)"),
      tests("core/append", "kept-locks"),
      tests("core/session", "{durability,long-names,open-descriptors,recovery}"),
      tests("faults", "{failed-openings,power-loss-durability,recovery,replacements}"),
    ],
  },
  log: {
    mutate: [
      core("log"),
      "packages/tools/src/verify/line-check.ts",
      "packages/streaming/src/object-scanner.ts",
    ],
    tests: [
      tests("core/log"),
      tests("core/session", "{append,fixtures,leaf,open,rewrites,model}"),
      tests("streaming", "{cut-off-object,object-scanner}"),
      tests("core/session", "{durability,recovery}"),
      tests("core/checkpoint", "checkpoints"),
      tests("faults", "{failed-migrations,failed-openings,recovery,replacements}"),
      tests("faults", "rewrites-while-reading"),
      tests("faults", "crash-model"),
    ],
  },
  append: {
    mutate: [core("append"), core("session", "recovery")],
    tests: [
      tests("core/append", "!(interleavings)"),
      tests("core/session", "{append,durability,recovery,given-*,open,unknown-types}"),
      tests("core/log", "migration"),
      tests("core/adapters/omp", "session-manager"),
      tests("faults", "{cut-writes,doubtful-retries,failed-appends,failed-queues}"),
      tests("faults", "{unreadable-landings,power-loss-durability,replacements}"),
    ],
  },
  checkpoint: {
    mutate: [core("checkpoint", "!(*sum*)"), core("log", "{checkpoints,saved-state}")],
    tests: [
      tests(
        "core/checkpoint",
        "{checkpoint-*,checkpoints,frames,log-binding,orphan-checkpoints,saved-*}",
      ),
    ],
  },
  checksums: {
    mutate: [core("checkpoint", "*sum*")],
    tests: [tests("core/checkpoint", "{compared-sums,record-sums,saved-sums}")],
  },
  "index-table": {
    mutate: [core("index-table")],
    tests: [
      tests("core/index-table", "!(without-kernel)"),
      tests("core/bodies", "body-reader"),
      tests("core/session", "{fixtures,open,unknown-types}"),
    ],
  },
  projections: {
    mutate: [core("projections")],
    tests: [
      tests("core/projections"),
      tests("core/session", "{append,fixtures,leaf,model,resolve-blobs,turns}"),
      tests("core/live", "live-laws"),
      tests("core/checkpoint", "{checkpoints,saved-facts}"),
      tests("core/adapters/omp", "session-manager"),
    ],
  },
};
