// Opens a log, as a session or with a manager, and ends: argv is path, face. Closes nothing.
import { openSession } from "@branchlog/core";
import { managersWith } from "../../packages/agents/dist/pi/session-manager.js";

const [path, face] = process.argv.slice(2);
const options = { checkpointEveryBytes: 1 };
if (face === "session") await openSession(path, options);
else managersWith(options).open(path);
