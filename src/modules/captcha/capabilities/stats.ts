import Type, { type TInteger } from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { STATS_DAYS } from '../limits.ts';
import { type Reason, reasons } from '../solution.ts';
import { readTally } from '../tally.ts';

const found = (reason: Reason) => Type.Integer({ minimum: 0, description: `Verifications that answered ${reason}.` });
const counts = Object.fromEntries(reasons.map((reason) => [reason, found(reason)])) as Record<Reason, TInteger>;

export const stats = defineCapability()({
  method: 'GET',
  path: '/v1/captcha/stats',
  summary: 'Counts verifications by day and outcome.',
  description: `What verifications of the last ${STATS_DAYS} days found. Days of UTC, the oldest first; days without verifications are left out.`,
  keywords: ['captcha statistics', 'solved and failed captchas'],
  input: Type.Object({}),
  output: Type.Object({
    items: Type.Array(Type.Object({ date: Type.String({ format: 'date', description: 'Day of UTC.' }), ...counts }), {
      description: 'Days.',
    }),
  }),
  examples: [{ title: 'The last days', input: {} }],
  run: async ({ ctx }) => ({ data: { items: await readTally(ctx.core.db, ctx.accountId) } }),
});
