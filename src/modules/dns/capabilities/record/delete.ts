import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { textOrNull } from '../../../../kit/fields.ts';
import { requireRecordName } from '../../records/names.ts';
import { removeSets } from '../../records/store.ts';
import { nameField, typeField, zoneField } from '../../schemas.ts';
import type { DnsState } from '../../state.ts';
import { requireZone } from '../../zones/resource.ts';
import { touchZone } from '../../zones/store.ts';

export const deleteRecord = defineCapability<DnsState>()({
  method: 'DELETE',
  path: '/v1/dns/record/delete',
  summary: 'Deletes the DNS records of a name.',
  description:
    'All values of the name and type, or of all types of the name when no type is sent. Gone within a second; resolvers keep them for their ttl.',
  keywords: ['delete dns record', 'remove a record'],
  input: Type.Object({ zone: zoneField, name: nameField, type: Type.Optional(typeField) }),
  output: Type.Object({
    zone: Type.String({ description: 'Its zone.' }),
    name: Type.String({ description: 'The whole name.' }),
    deleted: Type.Boolean({ description: 'Whether there was such a record.' }),
    status: textOrNull('`not_found` when there was none, else null.'),
  }),
  errors: ['NOT_FOUND'],
  examples: [
    {
      title: 'A name that is not there',
      before: [{ capability: 'dns.zone.create', input: { zone: 'shop.test' } }],
      input: { zone: '$0.zone', name: 'www', type: 'A' },
      expect: { deleted: false, status: 'not_found' },
    },
  ],
  run: ({ ctx, input }) =>
    runWrite(ctx, async (tx, { nowMs }) => {
      const { zone } = await requireZone(tx, ctx, input.zone);
      const name = requireRecordName(input.name, zone);
      const deleted = await removeSets(tx, { accountId: ctx.accountId, zone }, name, input.type ?? null);
      if (deleted) await touchZone(tx, ctx.accountId, zone, nowMs);
      return { zone, name, deleted, status: deleted ? null : 'not_found' };
    }),
});
