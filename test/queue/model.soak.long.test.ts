// Random histories of standard, priority and FIFO queues in a chain of dead-letter queues, against the model of the contract.
// Scripts run side by side on one clock that stands still and is moved for all of them at once. The first one that fails is played
// again alone and made as small as it can be. QUEUE_MODEL_SEED repeats a run.
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { rounds } from '../support/soak.ts';
import { setClock } from '../wallet/clock.ts';
import { inProcess, type QueueCall } from './in-process.ts';
import { Player } from './player.ts';
import { EPOCHS, pauses, type Script, script } from './script.ts';

// Moving the clock makes every connection plan anew: the more scripts share a move, the faster.
const SIDE_BY_SIDE = 50;
const ROUNDS = rounds(20);
const SEED = Number(process.env.QUEUE_MODEL_SEED ?? randomInt(2 ** 31));
const START_MS = Date.UTC(2030, 0, 1);
// Longer than any lease or delay, shorter than any retention.
const REST_MS = 400_001;
const SHRINK_MS = 60_000;

let service: TestService;
let account: TestAccount;
let call: QueueCall;
let nowMs = START_MS;
let opened = 0;
const totals = { published: 0, deadLettered: 0 };

beforeAll(async () => {
  // No background work: what time has decided stays undecided until a call meets it.
  service = await startTestService({ env: { ROLES: 'web,render' } });
  await setClock(service.core.db, nowMs);
  account = await createTestAccount(service.core, 1_000);
  call = await inProcess(service.core, account.secret);
});

afterAll(() => service.stop());

test('every answer, count and order of delivery is what the contract says, whatever the history', async () => {
  for (const seed of samples(fc.nat(), SEED, ROUNDS)) {
    const [moves = []] = samples(pauses, seed, 1);
    const seeds = samples(fc.nat(), seed, SIDE_BY_SIDE);
    const failures = await play(
      seeds.map((one) => samples(alone(moves), one, 1)[0]?.[0] as Script),
      moves,
    );
    const failed = failures.findIndex((failure) => failure !== null);
    if (failed !== -1) throw await smallest(moves, seeds[failed] as number, failures[failed] as Error);
  }
  expect(await books()).toEqual(totals);
}, 600_000);

function samples<T>(generator: fc.IRawProperty<T> | fc.Arbitrary<T>, seed: number, count: number): T[] {
  return fc.sample(generator, { seed, numRuns: count, unbiased: true });
}

function alone(moves: readonly number[]) {
  return fc.asyncProperty(script, async (one) => {
    const [failure] = await play([one], moves);
    if (failure !== null) throw failure;
  });
}

/** Plays scripts side by side. Answers the failure of each, null for none. */
async function play(scripts: readonly Script[], moves: readonly number[]): Promise<(Error | null)[]> {
  const failures = new Map<Player, Error>();
  const players = scripts.map((one) => {
    opened += 1;
    return new Player(call, one, `run${opened}`, nowMs);
  });
  const each = (all: readonly Player[], work: (player: Player) => Promise<void>) =>
    Promise.all(
      all.map((player) =>
        work(player).catch((cause: Error) => {
          const told = new Error(`${cause.message}\n${player.log.join('\n')}`, { cause });
          if (!failures.has(player)) failures.set(player, told);
        }),
      ),
    );
  const left = () => players.filter((player) => !failures.has(player));
  await each(players, (player) => player.open());
  for (let epoch = 0; epoch < EPOCHS && left().length > 0; epoch += 1) {
    await each(left(), (player) => player.play(epoch));
    const ms = moves[epoch] ?? REST_MS;
    nowMs += ms;
    await setClock(service.core.db, nowMs);
    await each(left(), (player) => player.advance(ms));
  }
  await each(left(), (player) => player.drain());
  await each(players, (player) => player.close());
  for (const player of players) {
    totals.published += player.totals.published;
    totals.deadLettered += player.totals.deadLettered;
  }
  return players.map((player) => failures.get(player) ?? null);
}

/** The smallest script that fails alone; the failure given when it takes others to fail. */
async function smallest(moves: readonly number[], seed: number, failure: Error): Promise<Error> {
  const run = await fc.check(alone(moves), {
    seed,
    numRuns: 1,
    unbiased: true,
    interruptAfterTimeLimit: SHRINK_MS,
  });
  const told = run.failed && run.errorInstance instanceof Error ? run.errorInstance : failure;
  const how = run.failed ? `made smaller ${run.numShrinks} times` : 'not when played alone';
  return new Error(`QUEUE_MODEL_SEED=${SEED}, ${how}: ${told.message}`, { cause: told.cause });
}

/** What the account was charged for and told of. */
async function books(): Promise<typeof totals> {
  const { rows } = await service.core.db.query<{ published: bigint; dead: bigint }>(
    {
      name: 'test_model_books',
      text: `SELECT (SELECT coalesce(sum(units), 0) FROM core.accepted_units WHERE account_id = $1) AS published,
                    (SELECT count(*)
                       FROM (SELECT type FROM core.event WHERE account_id = $1
                             UNION ALL SELECT type FROM core.event_outbox WHERE account_id = $1) e
                      WHERE type = 'queue.dlq') AS dead`,
    },
    [account.accountId],
  );
  const [row] = rows as [{ published: bigint; dead: bigint }];
  return { published: Number(row.published), deadLettered: Number(row.dead) };
}
