import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instantOrNull, plainText, plainTextOrNull, textOrNull } from '../../../kit/fields.ts';
import { listOf, requireRoom } from '../../../kit/resource.ts';
import { invalidField } from '../../../problems/problem.ts';
import { LABEL_CHARACTERS_MAX } from '../limits.ts';
import {
  entryOf,
  entryRecord,
  entrySchema,
  entryTable,
  kindField,
  listField,
  riskLimits,
  saveEntry,
} from '../lists/entries.ts';
import { addShape } from '../rules/settings.ts';

const valueField = plainText(
  LABEL_CHARACTERS_MAX,
  'An address, a network such as 192.0.2.0/24, a mailbox, a domain (its subdomains included), a user id or a device id.',
);
export const listAdd = defineCapability()({
  method: 'POST',
  path: '/v1/risk/list/add',
  summary: 'Puts an address, network, mailbox, domain, user or device on the allow or block list.',
  description:
    'From the next call on an entry decides alone. An allow entry wins over a block entry. A value stands on one list: adding it again moves it and replaces note and expires_at.',
  keywords: ['block ip address', 'ban user', 'allowlist', 'denylist domain', 'block email domain'],
  input: Type.Object({
    list: listField,
    kind: kindField,
    value: valueField,
    note: Type.Optional(plainTextOrNull(200, 'For people: why.')),
    expires_at: Type.Optional(instantOrNull('Until when it counts, in the future; absent: for good.')),
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
  run: ({ ctx, input: { list, kind, note, expires_at: until, ...input } }) => {
    const { entry, value, shape } = entryOf(kind, input.value);
    const expiresAt = until == null ? null : Date.parse(until);
    return runWrite(ctx, async (tx, { nowMs }) => {
      if (expiresAt !== null && expiresAt <= nowMs)
        throw invalidField('expires_at', 'future', 'expires_at must be in the future.');
      const isNew = (await entryTable.find(tx, ctx, entry)) === null;
      if (isNew) await requireRoom(tx, ctx, 'list entry', riskLimits.risk_entries);
      await addShape(tx, ctx.accountId, shape, nowMs);
      const row = { entry, list, kind, value, note: note || null, created_at: nowMs, expires_at: expiresAt };
      return entryRecord(saveEntry(tx, ctx, row));
    });
  },
});

export const listRemove = defineCapability()({
  method: 'DELETE',
  path: '/v1/risk/list/remove',
  summary: 'Removes an entry of the allow or block list.',
  description: 'The rules decide again, from the next call on.',
  keywords: ['unblock ip address', 'unban user'],
  input: Type.Object({ kind: kindField, value: valueField }),
  output: Type.Object({
    value: Type.String({ description: 'As it was stored.' }),
    deleted: Type.Boolean({ description: 'Whether there was such an entry.' }),
    status: textOrNull('`not_found` when there was none, else null.'),
  }),
  examples: [{ title: 'A user is welcome again', input: { kind: 'user', value: 'u-17' } }],
  run: ({ ctx, input }) => {
    const { entry, value } = entryOf(input.kind, input.value);
    return runWrite(ctx, async (tx) => {
      const deleted = await entryTable.remove(tx, ctx, entry);
      return { value, deleted, status: deleted ? null : 'not_found' };
    });
  },
});

export const listEntries = listOf(
  { ...entryTable, noun: 'list entry', output: entrySchema, show: entryRecord },
  {
    path: '/v1/risk/list/entries',
    summary: 'Lists the entries of the allow and block lists.',
    description:
      'By kind and value, of both lists or of one. An expired entry no longer counts, and is removed within minutes.',
    keywords: ['show blocked users', 'list allowlist entries'],
    filters: { list: Type.Optional(listField), kind: Type.Optional(kindField) },
    examples: [{ title: 'Who is blocked', input: { list: 'block', limit: 10 }, expect: { has_more: false } }],
  },
);
