// A loop that serves owners in fair turns. An owner gets another place only while it holds fewer than are free (FairPlaces). So an owner with a
// large backlog, or with endless work, does not block others. An owner whose claim fails is put off.
import { FairPlaces } from '../../lib/fair-places.ts';
import type { Logger } from '../process/logger.ts';
import type { Metric } from '../process/metric.ts';
import { JobLoop } from './job-loop.ts';

export interface TurnLoopOptions<Turn extends OfAccount, Job> {
  readonly name: string;
  readonly log: Logger;
  /** Jobs at once on this process. */
  readonly places: number;
  /** Places that one turn may get. */
  readonly placesPerTurn: number;
  /** Claims at once. */
  readonly claimsAtOnce: number;
  /** How often it looks when nobody wakes it. */
  readonly intervalMs: number;
  /** Up to `limit` turns with something due, longest waiting first. */
  find(limit: number): Promise<readonly Turn[]>;
  /** Leases up to `places` jobs. */
  claim(turn: Turn, places: number): Promise<readonly Job[]>;
  /** A turn whose claim failed must not be found first again at once. */
  putOff?(turn: Turn): Promise<void>;
  run(job: Job, signal: AbortSignal): Promise<void>;
  /** After the last job, at the stop. */
  onStop?(): Promise<void>;
  metrics?(): Metric[];
}

export interface OfAccount {
  readonly accountId: string;
}

interface Placed<Job> {
  readonly accountId: string;
  readonly job: Job;
}

export function turnLoop<Turn extends OfAccount, Job>(options: TurnLoopOptions<Turn, Job>): JobLoop {
  const { name, log, places, intervalMs, metrics } = options;
  const fair = new FairPlaces(places);
  const missed = { any: false };
  const loop: JobLoop<Placed<Job>> = new JobLoop<Placed<Job>>({
    name,
    log,
    concurrency: places,
    intervalMs,
    metrics,
    ...(options.onStop === undefined ? {} : { onStop: options.onStop }),
    take: (room) => takeTurns(loop, fair, missed, options, room),
    async run({ accountId, job }, signal) {
      try {
        await options.run(job, signal);
      } finally {
        fair.release(accountId, 1);
        // A place is free again, and somebody lacked one.
        if (missed.any) loop.wake();
        missed.any = false;
      }
    },
  });
  return loop as JobLoop;
}

async function takeTurns<Turn extends OfAccount, Job>(
  loop: JobLoop<Placed<Job>>,
  fair: FairPlaces,
  /** Whether an account got fewer places than it may have work for. */
  missed: { any: boolean },
  { find, claim, putOff, places, placesPerTurn, claimsAtOnce, name, log }: TurnLoopOptions<Turn, Job>,
  room: number,
): Promise<Placed<Job>[]> {
  // Every account that can be refused a place holds one: so many and some more hold a newcomer too.
  const turns = (await find(places + 32)).values();
  const taken: Placed<Job>[] = [];
  let left = room;
  const serveSome = async () => {
    for (const turn of turns) {
      const { accountId } = turn;
      const reserved = fair.reserve(accountId, Math.min(placesPerTurn, left));
      missed.any ||= reserved === 0;
      if (reserved === 0) continue;
      left -= reserved;
      let unused = reserved;
      try {
        const jobs = await claim(turn, reserved);
        unused -= jobs.length;
        missed.any ||= unused === 0 && reserved < placesPerTurn;
        taken.push(...jobs.map((job) => ({ accountId, job })));
      } catch (error) {
        loop.reportFailure(error, { accountId }, 'the due work of an account could not be claimed');
        await putOff?.(turn).catch((err: unknown) =>
          log.error({ err, jobs: name, accountId }, 'nor could it be put off'),
        );
      }
      fair.release(accountId, unused);
      left += unused;
    }
  };
  await Promise.all(Array.from({ length: claimsAtOnce }, serveSome));
  return taken;
}
