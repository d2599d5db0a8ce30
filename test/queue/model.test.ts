// Random histories of standard, priority and FIFO queues in a chain of dead-letter queues, against the model of the contract.
// Scripts run side by side on one clock that stands still and is moved for all of them at once.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { setClock } from '../wallet/clock.ts';
import { inProcess, type QueueCall } from './in-process.ts';
import { Player } from './player.ts';
import { advance, EPOCHS, script } from './script.ts';

// Moving the clock makes every connection plan anew: the more scripts share a move, the faster.
const SCRIPTS = 40;
const RUNS = Number(process.env.QUEUE_MODEL_RUNS ?? 26);
const START_MS = Date.UTC(2030, 0, 1);

let service: TestService;
let account: TestAccount;
let call: QueueCall;
let nowMs = START_MS;
let opened = 0;

beforeAll(async () => {
  service = await startTestService();
  await setClock(service.core.db, nowMs);
  account = await createTestAccount(service.core, 1_000);
  call = await inProcess(service.core, account.secret);
});

afterAll(() => service.stop());

test('every answer, count and order of delivery is what the contract says, whatever the history', async () => {
  const scripts = fc.array(script, { minLength: SCRIPTS, maxLength: SCRIPTS });
  const pauses = fc.array(advance, { minLength: EPOCHS - 1, maxLength: EPOCHS - 1 });
  let played = 0;
  await fc.assert(
    fc.asyncProperty(scripts, pauses, async (all, moves) => {
      const players = all.map((one) => {
        opened += 1;
        return new Player(call, one, `run${opened}`, nowMs);
      });
      await Promise.all(players.map((player) => player.open()));
      for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
        await Promise.all(players.map((player) => player.play(epoch)));
        const ms = moves[epoch] ?? 1_001;
        nowMs += ms;
        await setClock(service.core.db, nowMs);
        await Promise.all(players.map((player) => player.advance(ms)));
      }
      await Promise.all(players.map((player) => player.close()));
      played += players.length;
    }),
    { numRuns: RUNS, interruptAfterTimeLimit: 240_000, markInterruptAsFailure: true },
  );
  expect(played).toBeGreaterThanOrEqual(RUNS * SCRIPTS);
}, 600_000);
