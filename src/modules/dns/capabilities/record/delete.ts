import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { textOrNull } from '../../../../kit/fields.ts';
import { editZone } from '../../records/edit.ts';
import { requireRecordName } from '../../records/names.ts';
import { nameField, typeField, zoneField } from '../../schemas.ts';
import type { DnsState } from '../../state.ts';
import { vendorErrors } from '../../vendors/errors.ts';

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
  errors: ['NOT_FOUND', ...vendorErrors],
  examples: [
    {
      title: 'A name that is not there',
      before: [{ capability: 'dns.zone.create', input: { zone: 'shop.test' } }],
      input: { zone: '$0.zone', name: 'www', type: 'A' },
      expect: { deleted: false, status: 'not_found' },
    },
  ],
  run: ({ ctx, input, state }) =>
    editZone(ctx, state, {
      zone: input.zone,
      param: 'name',
      edits: (zone) => [{ kind: 'remove', name: requireRecordName(input.name, zone), type: input.type ?? null }],
      answer: ({ zone, removed }) => ({
        zone,
        name: requireRecordName(input.name, zone),
        deleted: removed,
        status: removed ? null : 'not_found',
      }),
    }),
});
