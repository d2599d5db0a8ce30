// A process that makes pictures, one at a time, at a low priority: whatever a hostile one does to the decoder, it takes this process at
// worst. It ends itself when a picture takes more processor time or memory than any that is sound, and when the service is gone.
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { PictureBounds } from '../port.ts';
import { type Order, type Said, TOO_COSTLY, type Told } from './wire.ts';

/** Calls go first, and yet a picture is done in time on a machine that is busy with other things. */
const LOW_PRIORITY = 5;
const LOOK_MS = 50;

let go: () => void = () => undefined;

process.on('disconnect', () => process.exit());
process.on('message', (told: Told) => {
  if (told.kind === 'go') go();
  else void make(told.order, told.bounds);
});

async function make(order: Order, bounds: PictureBounds): Promise<void> {
  setPriority(LOW_PRIORITY);
  const { makePicture } = await import('./picture.ts');
  lowerThreads();
  const begun = process.cpuUsage();
  const guard = setInterval(() => {
    const { user, system } = process.cpuUsage(begun);
    const isTooCostly = (user + system) / 1_000 > bounds.cpuMsMax || process.memoryUsage.rss() > bounds.memoryBytesMax;
    if (isTooCostly) process.exit(TOO_COSTLY);
  }, LOOK_MS);
  const turn = () => {
    say({ kind: 'large' });
    return new Promise<void>((resolve) => {
      go = resolve;
    });
  };
  const outcome = await makePicture(order, bounds, turn);
  clearInterval(guard);
  say({ kind: 'done', outcome });
}

function say(said: Said): void {
  process.send?.(said);
}

/** On Linux a priority is a thread's, and those that decode may have been there before. */
function lowerThreads(): void {
  if (process.platform !== 'linux') return;
  for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), LOW_PRIORITY);
}
