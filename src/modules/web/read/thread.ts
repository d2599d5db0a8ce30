// Page reader thread; its libraries are loaded nowhere else. Hostile input can end only this thread, which has a memory and time limit.
import { getPriority, setPriority } from 'node:os';
import { serve } from '../../../lib/threads.ts';
import { readPage } from './page.ts';
import { Refused } from './refused.ts';
import type { ReadAnswer, ReadTask } from './wire.ts';

/** Calls go first: on Linux this concerns the thread alone. */
const NICENESS = 10;
if (process.platform === 'linux' && getPriority() < NICENESS) setPriority(NICENESS);

// Libraries tell on the console what they think of a page; that is nobody's log.
for (const word of ['log', 'info', 'warn', 'error'] as const) console[word] = () => undefined;

serve<ReadTask, ReadAnswer, 'begun'>(async (task, { tell }) => {
  // Loading the libraries is no time of the page.
  tell('begun');
  try {
    return await readPage(task);
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    if (error instanceof RangeError) return new Refused('too_complex', 'The page is nested too deep.').refusal;
    throw error;
  }
});
