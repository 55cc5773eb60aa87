/** ConnectOnion: a file holds all runs of one agent. */
import { resolve } from "node:path";
import type { Agent } from "@branchlog/core/rows";

export const connectonion: Agent = {
  name: "connectonion",
  product: "ConnectOnion",
  places: () => [resolve(".co", "sessions")],
  resume: () => null,
};
