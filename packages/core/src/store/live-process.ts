/** Whether a process runs on this machine. One in another container may seem not to. */

/** Whether there is a process with this id, of whatever user. */
export function isLiveProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
