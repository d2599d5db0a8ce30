import Type from 'typebox';
import { knowRecording } from '../../../../core/hear-siblings.ts';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { recordingUntil, setRecording } from '../../../../core/requests/recording.ts';
import { instantField } from '../../../../core/usage/period.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { instantOrNull } from '../../../../kit/fields.ts';
import { DAY_MS, isoOrNull } from '../../../../lib/time.ts';
import { invalidField } from '../../../../problems/problem.ts';

const RECORD_MS_MAX = DAY_MS;

const settingsSchema = Type.Object(
  {
    record_all_until: instantOrNull('Up to 200 short calls a second are kept until then; null: a sample above 50.'),
  },
  { title: 'RequestLogSettings' },
);

export const requestsSettingsGet = defineCapability()({
  method: 'GET',
  path: '/v1/account/requests/settings/get',
  summary: 'Gets what the request log keeps.',
  description: 'Until when more than a sample of a busy second is kept.',
  keywords: ['request log settings', 'are all calls recorded'],
  input: Type.Object({}),
  output: settingsSchema,
  examples: [{ title: 'The settings', input: {} }],
  async run({ ctx }) {
    const untilMs = await recordingUntil(ctx.core.db, ctx.accountId);
    return { data: { record_all_until: isoOrNull(untilMs) } };
  },
});

export const requestsSettings = defineCapability()({
  method: 'PUT',
  path: '/v1/account/requests/settings',
  summary: 'Keeps more calls of a busy second in the request log for a while.',
  description:
    'Up to 200 short calls a second in place of 50, for at most 24 hours. Null ends it. Other processes follow within 5 s.',
  keywords: ['record all requests', 'debug mode', 'log every call'],
  input: Type.Object({
    record_all_until: instantOrNull('At most 24 hours from now; null: no longer.'),
  }),
  output: settingsSchema,
  examples: [{ title: 'No longer', input: { record_all_until: null }, expect: { record_all_until: null } }],
  async run({ ctx, input }) {
    const untilMs = instantField('record_all_until', input.record_all_until ?? undefined);
    const answer = await runWrite(ctx, async (tx, { nowMs }) => {
      if (untilMs !== null && (untilMs <= nowMs || untilMs > nowMs + RECORD_MS_MAX))
        throw invalidField('record_all_until', 'range', 'record_all_until must be in the next 24 hours, or null.');
      await setRecording(tx, ctx.accountId, untilMs);
      return { record_all_until: isoOrNull(untilMs) };
    });
    await knowRecording(ctx.core);
    return answer;
  },
});
