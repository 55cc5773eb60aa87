/** A process that lists the sessions of a directory, so that what it found is saved there. */
import { argv } from "node:process";
import { SessionManager } from "@branchlog/core/pi";

const [, , cwd = "", directory = ""] = argv;
await SessionManager.list(cwd, directory);
