// How long one turn of this thread's event loop takes at most, in processor time: what no other call can do anything in.

/** Runs what is to be measured and answers the longest turn meanwhile, in ms. Turns of a busy machine are no longer: waiting counts for nothing. */
export async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let before = process.threadCpuUsage();
  let goesOn = true;
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    before = process.threadCpuUsage();
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
