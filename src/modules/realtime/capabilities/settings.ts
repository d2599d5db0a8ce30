import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { unsetApp } from '../app/app.ts';
import { findAppRow, saveAppRow } from '../app/store.ts';
import { HISTORY_SECONDS } from '../limits.ts';
import type { RealtimeState } from '../state.ts';

const { min, usual, max } = HISTORY_SECONDS;
const historyField = Type.Integer({
  minimum: min,
  maximum: max,
  description: `Seconds that messages can be read again, up to ${max} (72 hours).`,
});
const clientEventsField = Type.Boolean({
  description: 'Whether clients may publish client-… events in private and presence channels that they are in.',
});
const schema = Type.Object({ history_seconds: historyField, client_events: clientEventsField });

export const getSettings = defineCapability<RealtimeState>()({
  method: 'GET',
  path: '/v1/realtime/settings/get',
  summary: 'Shows the settings of realtime.',
  description: 'How long messages can be read again, and whether clients may publish.',
  keywords: ['channel history length', 'client events enabled'],
  input: Type.Object({}),
  output: schema,
  examples: [{ title: 'As it begins', input: {}, expect: { history_seconds: usual, client_events: true } }],
  async run({ ctx }) {
    const row = (await findAppRow(ctx.core.db, ctx.accountId)) ?? unsetApp(0);
    return { data: { history_seconds: row.history_seconds, client_events: row.client_events } };
  },
});

export const setSettings = defineCapability<RealtimeState>()({
  method: 'PUT',
  path: '/v1/realtime/settings/set',
  summary: 'Sets how long messages are kept, and who publishes.',
  description:
    'Fields that are not sent stay. A shorter history hides older messages at once; a longer one keeps what is published from now on.',
  keywords: ['keep channel history longer', 'forbid client events'],
  input: Type.Object({
    history_seconds: Type.Optional(historyField),
    client_events: Type.Optional(clientEventsField),
  }),
  output: schema,
  examples: [{ title: 'An hour', input: { history_seconds: 3600 }, expect: { history_seconds: 3600 } }],
  run({ ctx, input }) {
    return runWrite(ctx, async (tx, { nowMs }) => {
      const before = (await findAppRow(tx, ctx.accountId)) ?? unsetApp(nowMs);
      const row = await saveAppRow(tx, ctx.accountId, { ...before, ...input, updated_at: nowMs });
      return { history_seconds: row.history_seconds, client_events: row.client_events };
    });
  },
});
