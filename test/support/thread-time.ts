/** Milliseconds of processor time that this thread takes for `work`: other processes do not count. */
export function threadMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
