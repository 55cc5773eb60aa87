/** A machine for reports that no machine wrote. */
import type { MachineFacts } from "../../packages/bench/src/report.ts";

export const sampleMachine: MachineFacts = {
  processor: "CPU",
  cores: 2,
  memoryBytes: 2 ** 33,
  system: "Linux 6",
  node: "v20.19.0",
  commit: "abc1234",
  date: "2026-06-01T00:00:00.000Z",
};
