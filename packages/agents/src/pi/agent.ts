/** pi, and co-mono, which keeps its sessions as pi does. */
import { join } from "node:path";
import type { Agent } from "@branchlog/core/rows";
import { resolvePath } from "@branchlog/core/files";
import { renamedSessionDirectory } from "../omp/omp-directory.ts";
import { resumedBy } from "../session-command.ts";
import { getAgentDir, sessionsRoot } from "./pi-directory.ts";

export const pi: Agent = {
  name: "pi",
  product: "pi",
  places: () => {
    const flat = process.env["PI_CODING_AGENT_SESSION_DIR"];
    const gateway = join(resolvePath(getAgentDir()), "gateway-sessions");
    return [sessionsRoot(), gateway, ...(flat ? [resolvePath(flat)] : [])];
  },
  resume: resumedBy("pi"),
  renamedDirectory: renamedSessionDirectory,
};
