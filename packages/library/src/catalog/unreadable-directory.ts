/** The error for a directory of sessions that cannot be listed. */
import { BranchlogError } from "@branchlog/core";
import { transcriptErrorAt } from "@branchlog/core/rows";

const advice = "Give the directory of the sessions.";

/** Anything but an error of the system is returned unchanged. */
export function unreadableDirectory(path: string, cause: unknown): unknown {
  if (!(cause instanceof Error && "code" in cause)) return cause;
  if (!("syscall" in cause) && cause.code !== "ERR_INVALID_ARG_VALUE") return cause;
  switch (cause.code) {
    // A file name cannot contain NUL.
    case "ERR_INVALID_ARG_VALUE":
    case "ENOENT": {
      const message = `${path} does not exist. Check the path.`;
      return new BranchlogError("ERR_LOG_MISSING", message, { path, cause });
    }
    case "ENOTDIR": {
      const foreign = transcriptErrorAt(path, advice);
      if (foreign !== undefined) return foreign;
      const message = `${path} is not a directory. ${advice}`;
      return new BranchlogError("ERR_LOG_UNREADABLE", message, { path, cause });
    }
    default: {
      const message = `${path} cannot be read as a directory (${String(cause)}). Check the path.`;
      return new BranchlogError("ERR_LOG_UNREADABLE", message, { path, cause });
    }
  }
}
