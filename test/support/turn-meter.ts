// How long one turn of this thread's event loop takes at most, in processor time: what no other call can do anything in. Some kernels tell
// processor time by ticks of 4 ms, so a turn may seem longer than it was: the clock on the wall bounds it.

/** Runs what is to be measured and answers the longest turn meanwhile, in ms. Turns of a busy machine are no longer: waiting counts for nothing. */
export async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let before = process.threadCpuUsage();
  let beforeMs = performance.now();
  let goesOn = true;
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, Math.min((user + system) / 1_000, performance.now() - beforeMs));
    before = process.threadCpuUsage();
    beforeMs = performance.now();
    if (goesOn) setImmediate(look);
  };
  setImmediate(look);
  try {
    await run();
  } finally {
    goesOn = false;
  }
  return longestMs;
}
