import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { orNull, plainTextOrNull } from '../../../kit/fields.ts';
import { requireRoom } from '../../../kit/resource.ts';
import { invalidField } from '../../../problems/problem.ts';
import { entryOf, entryTable, riskLimits, saveEntry } from '../lists/entries.ts';
import { entryRecord } from '../lists/record.ts';
import { addShape } from '../rules/settings.ts';
import { entrySchema, kindField, listField, valueField } from '../schemas.ts';

export const listAdd = defineCapability()({
  method: 'POST',
  path: '/v1/risk/list/add',
  summary: 'Puts an address, network, mailbox, domain, user or device on the allow or block list.',
  description:
    'From the next call on an entry decides alone, whatever the rules say. An allow entry wins over a block entry. A value stands on one list: adding it again ' +
    'moves it and replaces note and expires_at.',
  keywords: ['block ip address', 'ban user', 'allowlist', 'denylist domain', 'block email domain'],
  input: Type.Object({
    list: listField,
    kind: kindField,
    value: valueField,
    note: Type.Optional(plainTextOrNull(200, 'For people: why.')),
    expires_at: Type.Optional(
      orNull<string>(
        { type: 'string', format: 'date-time', maxLength: 40 },
        'Until when it counts, in the future; absent: for good.',
      ),
    ),
  }),
  output: entrySchema,
  errors: ['QUOTA_EXCEEDED'],
  limits: { entries: '1,000 an account (standard tier), 10,000 (pro), 100,000 (enterprise).' },
  examples: [
    {
      title: 'A network that only makes trouble',
      input: { list: 'block', kind: 'cidr', value: '198.51.100.0/24', note: 'credential stuffing' },
      expect: { value: '198.51.100.0/24', expires_at: null },
    },
  ],
  run: ({ ctx, input }) => {
    const { entry, value, shape } = entryOf(input.kind, input.value);
    const { list, kind } = input;
    return runWrite(ctx, async (tx, { nowMs }) => {
      const expiresAt = input.expires_at == null ? null : Date.parse(input.expires_at);
      if (expiresAt !== null && expiresAt <= nowMs) {
        throw invalidField('expires_at', 'future', 'expires_at must be in the future.');
      }
      if ((await entryTable.find(tx, ctx, entry)) === null)
        await requireRoom(tx, ctx, 'list entry', riskLimits.risk_entries);
      await addShape(tx, ctx.accountId, shape, nowMs);
      const row = { entry, list, kind, value, note: input.note || null, created_at: nowMs, expires_at: expiresAt };
      return entryRecord(await saveEntry(tx, ctx, row));
    });
  },
});
