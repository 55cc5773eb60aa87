/** A cache directory for each process of a run of the tests, so that none sees that of another. */
import { join } from "node:path";

const { BRANCHLOG_RUN_DIR } = process.env;
if (BRANCHLOG_RUN_DIR !== undefined) {
  process.env["BRANCHLOG_CACHE_DIR"] = join(BRANCHLOG_RUN_DIR, `cache-${process.pid}`);
}
