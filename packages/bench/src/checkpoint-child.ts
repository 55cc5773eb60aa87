/** Opens the session of its argument and closes it, so that its checkpoint is left behind. */
import { argv } from "node:process";
import { openSession } from "@branchlog/core";

const [, , path = ""] = argv;
await (await openSession(path, { checkpointEveryBytes: 1 })).close();
