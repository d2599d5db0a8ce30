/** Milliseconds of processor time that this thread takes for `work`: other processes do not count. */
export function threadMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** The most processor time that this thread took in one turn of its loop while `work` went on. */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let [longestMs, last, isOver] = [0, process.threadCpuUsage(), false];
  const look = () => {
    const { user, system } = process.threadCpuUsage(last);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    last = process.threadCpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  isOver = true;
  return longestMs;
}
