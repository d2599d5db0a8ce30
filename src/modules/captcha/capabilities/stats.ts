import Type, { type TInteger } from 'typebox';
import { statement } from '../../../db/statement.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { reasons } from './verify.ts';

/** Days that are shown and kept. */
export const STATS_DAYS = 30;

const reasonField = (reason: string) => [
  reason,
  Type.Integer({ description: `Verifications that answered ${reason}.` }),
];
const counts = Object.fromEntries(reasons.map(reasonField)) as Record<(typeof reasons)[number], TInteger>;
const day = Type.Object({ date: Type.String({ format: 'date', description: 'Day of UTC.' }), ...counts });

const selectDays = statement(
  'captcha_select_tally',
  `SELECT (t.day AT TIME ZONE 'UTC')::date::text AS date, jsonb_object_agg(t.reason, t.verifications) AS counted
     FROM captcha.tally t
    WHERE t.account_id = $1 AND t.day > core.clock_now() - interval '${STATS_DAYS} days' GROUP BY t.day ORDER BY t.day`,
);

export const stats = defineCapability()({
  method: 'GET',
  path: '/v1/captcha/stats',
  summary: 'Counts verifications by day and outcome.',
  description: `The last ${STATS_DAYS} days of UTC that had verifications, the oldest first.`,
  keywords: ['captcha statistics', 'solved and failed captchas'],
  input: Type.Object({}),
  output: Type.Object({ items: Type.Array(day, { description: 'Days.' }) }),
  examples: [{ title: 'The last days', input: {} }],
  async run({ ctx: { core, accountId } }) {
    const { rows } = await core.db.query<{ date: string; counted: object }>(selectDays, [accountId]);
    const none = Object.fromEntries(reasons.map((reason) => [reason, 0]));
    return { data: { items: rows.map(({ date, counted }) => ({ date, ...none, ...counted })) } };
  },
});
