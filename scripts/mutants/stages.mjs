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
      "packages/streaming/src/{line-framer,long-line,scan,byte-pass,backward-pass}.ts",
      "packages/streaming/src/{decode-line,read-range,read-file,read-file-backward}.ts",
    ],
    tests: [tests("streaming", "{byte-pass,decode-line,line-framer,read-*,scan,streams}")],
  },
  store: {
    mutate: [core("store", "!(memory-*|manual-clock|seeded-ids|log-file)")],
    tests: [
      tests("core/store", "!(lockfile-lock-processes)"),
      tests("core/session", "{long-names,open-descriptors}"),
    ],
  },
  log: {
    mutate: [
      core("store", "log-file"),
      core("session", "{tracked-log,log-*,open-outcome,read-trail,same-log,line-check}"),
      core("session", "{recovery,cut-off-record,migrated-bytes,migration}"),
    ],
    tests: [
      tests("core/session", "{append,cut-off-record,fixtures,leaf,migration,open}"),
      tests("core/session", "{durability,log-state,reading,recovery,rewrites,model}"),
      tests("core/checkpoint", "checkpoints"),
      tests("faults", "{failed-openings,recovery,replacements,rewrites-while-reading}"),
      tests("faults", "{crash-model,unreadable-records}"),
    ],
  },
  append: {
    mutate: [core("session", "{append-*,landing,lock-wait,planned-log,same-content,steps}")],
    tests: [
      tests("core/session", "{append,append-queue,append-plan,durability,expected-tail}"),
      tests("core/session", "{kept-locks,landing,lock-wait,lost-locks}"),
      tests("faults", "{cut-writes,doubtful-retries,failed-appends,failed-queues}"),
      tests("faults", "unreadable-landings"),
    ],
  },
  checkpoint: {
    mutate: [core("checkpoint", "!(*sum*)"), core("session", "{checkpoints,saved-state}")],
    tests: [
      tests("core/checkpoint", "{checkpoint-*,checkpoints,log-binding,orphan-checkpoints,saved-*}"),
    ],
  },
  checksums: {
    mutate: [core("checkpoint", "*sum*")],
    tests: [tests("core/checkpoint", "{compared-sums,record-sums,saved-sums}")],
  },
  "index-table": {
    mutate: [core("index-table")],
    tests: [
      tests("core/index-table"),
      tests("core/bodies", "body-reader"),
      tests("core/session", "{fixtures,open}"),
    ],
  },
  projections: {
    mutate: [core("projections")],
    tests: [
      tests("core/projections"),
      tests("core/session", "{append,fixtures,resolve-blobs,turns}"),
      tests("core/faces/omp", "session-manager"),
    ],
  },
};
