import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { isoOrNull } from '../../../../lib/time.ts';
import { RECORDS_MAX, TTL_USUAL, VALUES_MAX } from '../../limits.ts';
import { editZone } from '../../records/edit.ts';
import { readSet } from '../../records/sets.ts';
import { nameField, recordSchema, ttlField, typeField, valuesField, zoneField } from '../../schemas.ts';
import type { DnsState } from '../../state.ts';
import { vendorErrors } from '../../vendors/errors.ts';

export const setRecord = defineCapability<DnsState>()({
  method: 'PUT',
  path: '/v1/dns/record/set',
  summary: 'Sets the DNS records of a name and type.',
  description:
    'Takes the place of all values of this name and type; other types of the name stay. Answered by the name servers within a second; resolvers keep what ' +
    'they have for its old ttl. MX: `10 mail.example.org`. SRV: `10 5 5060 sip.example.org`. CAA: `0 issue "letsencrypt.org"`. TXT: the text as it is; one that ' +
    'begins with a quote is read as zone files have it. A CNAME stands alone at its name, and not at the zone itself.',
  keywords: [
    'set a dns record',
    'add a record',
    'txt record',
    'cname',
    'mx record',
    'point a domain to an ip',
    'wildcard dns',
    'change dns',
  ],
  input: Type.Object({ zone: zoneField, name: nameField, type: typeField, ttl: ttlField, values: valuesField }),
  output: recordSchema,
  errors: ['NOT_FOUND', 'QUOTA_EXCEEDED', ...vendorErrors],
  limits: { records: `${RECORDS_MAX} values a zone, ${VALUES_MAX} of a name and type.` },
  examples: [
    {
      title: 'An address',
      before: [{ capability: 'dns.zone.create', input: { zone: 'shop.test' } }],
      input: { zone: '$0.zone', name: 'www', type: 'A', ttl: 60, values: ['192.0.2.1', '192.0.2.2'] },
      expect: { type: 'A', ttl: 60, values: ['192.0.2.1', '192.0.2.2'] },
    },
    {
      title: 'A mail server',
      before: [{ capability: 'dns.zone.create', input: { zone: 'shop.test' } }],
      input: { zone: '$0.zone', name: '@', type: 'MX', values: ['10 Mail.Example.org.'] },
      expect: { ttl: 300, values: ['10 mail.example.org'] },
    },
  ],
  run: ({ ctx, input, state }) =>
    editZone(ctx, state, {
      zone: input.zone,
      param: 'type',
      edits: (zone) => [{ kind: 'set', sets: [readSet({ ...input, ttl: input.ttl ?? TTL_USUAL }, zone)] }],
      answer: ({ zone, sets: [set], atMs }) => ({ zone, ...set, updated_at: isoOrNull(atMs) }),
    }),
});
