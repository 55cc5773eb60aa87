/** Sessions over engines that a test opened itself, to see or change what a session hides. */
import { Session } from "../../packages/core/src/session/session.ts";
import type { Engine } from "@branchlog/core/engine";

export function sessionOver(engine: Engine): Session {
  return new Session(engine);
}
