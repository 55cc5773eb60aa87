/** Processor time of this process, in milliseconds: other than real time, the same on a busy machine. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
