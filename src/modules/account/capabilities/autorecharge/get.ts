import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { rechargeRecord } from '../../../../payments/recharge/configure.ts';
import { rechargeSchema } from './schemas.ts';

export const autorechargeGet = defineCapability()({
  method: 'GET',
  path: '/v1/account/autorecharge/get',
  summary: 'Shows auto-recharge: its configuration, what it charged, what comes next.',
  description: 'Never configured, it is not enabled. Days and months are those of UTC.',
  keywords: ['show auto recharge', 'automatic top-up status'],
  input: Type.Object({}),
  output: rechargeSchema,
  examples: [
    { title: 'Never configured', input: {}, expect: { enabled: false, last_attempt: null, charged_today: 0 } },
  ],
  async run({ ctx }) {
    return { data: await rechargeRecord(ctx.core.db, ctx.accountId) };
  },
});
