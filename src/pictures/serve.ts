// The picture process: it works on one picture at a time, at low priority, so a hostile picture can break only this process. It exits when
// a picture takes more CPU time or memory than a valid one needs, and when the service is gone.
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { type DecodeBounds, type Order, type PictureOutcome, type Said, TOO_COSTLY, type Told } from './wire.ts';

/** Calls go first, and yet a picture is done in time on a machine that is busy with other things. */
const LOW_PRIORITY = 5;
const LOOK_MS = 50;

/** `large`: waits for the turn of a picture that takes much memory. */
export type MakePicture<Task, Bounds, Made> = (
  order: Order<Task>,
  bounds: Bounds,
  large: () => Promise<void>,
) => Promise<PictureOutcome<Made>>;

/** `load`: what makes pictures; with its decoders it is loaded for the first of them. */
export function servePictures<Task, Bounds extends DecodeBounds, Made>(
  load: () => Promise<MakePicture<Task, Bounds, Made>>,
): void {
  const say = (said: Said<Made>) => process.send?.(said);
  let go: () => void = () => undefined;
  const turn = () => {
    say({ kind: 'large' });
    return new Promise<void>((resolve) => {
      go = resolve;
    });
  };
  const make = async (order: Order<Task>, bounds: Bounds) => {
    setPriority(LOW_PRIORITY);
    const makePicture = await load();
    lowerThreads();
    const guard = watch(bounds);
    const outcome = await makePicture(order, bounds, turn);
    clearInterval(guard);
    say({ kind: 'done', outcome });
  };
  process.on('disconnect', () => process.exit());
  process.on('message', (told: Told<Task, Bounds>) => {
    if (told.kind === 'go') go();
    else void make(told.order, told.bounds);
  });
}

function watch({ cpuMsMax, memoryBytesMax }: DecodeBounds): NodeJS.Timeout {
  const begun = process.cpuUsage();
  return setInterval(() => {
    const { user, system } = process.cpuUsage(begun);
    const isTooCostly = (user + system) / 1_000 > cpuMsMax || process.memoryUsage.rss() > memoryBytesMax;
    if (isTooCostly) process.exit(TOO_COSTLY);
  }, LOOK_MS);
}

/** On Linux a priority is a thread's, and those that decode may have been there before. */
function lowerThreads(): void {
  if (process.platform !== 'linux') return;
  for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), LOW_PRIORITY);
}
