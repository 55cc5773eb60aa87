// Archives everything below a directory and takes that back, again and again, until it is killed.
// Usage: node archiving-process.mjs ROOT DATA_DIR
import { writeSync } from "node:fs";
import { archiveSessions, undoOperation } from "@branchlog/library";

const [root, dataDir] = process.argv.slice(2);
writeSync(1, "ready\n");
for (;;) {
  await archiveSessions([root], { dataDir });
  await undoOperation(undefined, { dataDir });
}
