// Random histories of a wallet: credit, charges, holds, top-ups, automatic recharges, refunds, disputes, expiry, and the account that goes over
// into another. After every step what is there less what is owed is what came in less what went out, to the nano; the doctor finds nothing;
// a dispute that is won gives back exactly what it took.
// Two histories in `npm test`, six in `npm run test:soak` (20 s). All of it, 10^5 steps in half an hour:
// `SOAK=on WHOLE_MODEL=on npx vitest run --project integration test/payments/model`.
import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { isSoak, rounds } from '../support/soak.ts';
import { openTill, type Till } from './harness.ts';
import { History } from './model.ts';
import { step } from './model-steps.ts';

const isWhole = isSoak && process.env.WHOLE_MODEL === 'on';
const HISTORIES = isWhole ? 250 : 6;
const STEPS = isWhole ? 400 : isSoak ? 250 : 120;

let till: Till;
beforeAll(async () => {
  till = await openTill({ FX_RATES: '{"EUR": 0.901, "JPY": 150.5}' });
});
afterAll(() => till?.close());

test('in every history the books add up, nothing is below zero, and the wallet is frozen exactly while it must be', {
  timeout: 3_600_000,
}, async () => {
  const history = fc.array(step, { minLength: STEPS, maxLength: STEPS });
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const account = await History.begin(till);
      for (const [i, one] of steps.entries()) {
        await account.take(one);
        await account.expectSound();
        if (i % 20 === 19) await account.expectNoFindings();
      }
    }),
    { numRuns: rounds(HISTORIES), endOnFailure: true },
  );
});
