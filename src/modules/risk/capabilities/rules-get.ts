import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { rulesRecord } from '../rules/record.ts';
import { readSettings } from '../rules/settings.ts';
import { rulesSchema } from '../schemas.ts';

export const rulesGet = defineCapability()({
  method: 'GET',
  path: '/v1/risk/rules/get',
  summary: 'Shows the rules and thresholds of the account.',
  description: 'The default ones while none were set: they show how rules are written.',
  keywords: ['show fraud rules', 'risk thresholds'],
  input: Type.Object({}),
  output: rulesSchema,
  examples: [{ title: 'Those of a new account', input: {}, expect: { is_default: true, revision: 0 } }],
  run: async ({ ctx }) => ({ data: rulesRecord(await readSettings(ctx.core.db, ctx.accountId)) }),
});
