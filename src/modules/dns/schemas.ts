// Fields and records of the dns operations.
import Type from 'typebox';
import { instant, instantOrNull } from '../../kit/fields.ts';
import { RECORDS_MAX, TTL_MAX, TTL_MIN, TTL_USUAL, TXT_BYTES_MAX, VALUES_MAX } from './limits.ts';
import { TYPED_CHARACTERS_MAX } from './records/names.ts';
import { recordTypes } from './records/values.ts';
import { delegationStatuses } from './zones/delegation.ts';

const NAME_PATTERN = '^[^\\s\\p{Cc}\\p{Cs}/]*$';

export const zoneField = Type.String({
  minLength: 1,
  maxLength: TYPED_CHARACTERS_MAX,
  pattern: NAME_PATTERN,
  description: 'Name of the zone, such as example.org.',
});
export const vendorField = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[a-z0-9][a-z0-9_-]*$',
    description:
      'Who answers for the zone: `embedded` (this service), or a vendor of the operator. When not sent: this service, or where it has no name server the first vendor that may.',
  }),
);
export const nameField = Type.String({
  maxLength: TYPED_CHARACTERS_MAX,
  pattern: NAME_PATTERN,
  description:
    'Name of the record: relative (`www`), whole (`www.example.org`), `@` for the zone itself, `*` for all other names.',
});
export const typeField = Type.Enum([...recordTypes], { description: 'Type of the record.' });
export const ttlField = Type.Optional(
  Type.Integer({
    minimum: TTL_MIN,
    maximum: TTL_MAX,
    default: TTL_USUAL,
    description: `Seconds for which resolvers keep it; ${TTL_USUAL} when not sent.`,
  }),
);
export const valuesField = Type.Array(
  Type.String({
    minLength: 1,
    maxLength: 4 * TXT_BYTES_MAX,
    description: 'A value, such as `10 mail.example.org` of MX.',
  }),
  { minItems: 1, maxItems: VALUES_MAX, description: 'All values of this name and type. Names of hosts are whole.' },
);

export const zoneFields = {
  zone: Type.String({ description: 'In lower case, as ASCII (xn--…), without the last dot.' }),
  status: Type.Enum(['active', 'released'], {
    description: 'released: not delegated for 7 days, and added by another account since. It is answered for no more.',
  }),
  vendor: Type.String({ description: 'Who answers for it: `embedded` is this service.' }),
  serial: Type.Integer({
    minimum: 0,
    description: 'Of its SOA record; it grows with every change. At a vendor: with those made here.',
  }),
  name_servers: Type.Array(Type.String({ description: 'A host.' }), {
    description: 'Set these as name servers where the domain is registered.',
  }),
  created_at: instant('When it was created.'),
  updated_at: instant('When a record of it last changed.'),
};

export const zoneSchema = Type.Object(zoneFields, { title: 'DnsZone' });

export const zoneDetailSchema = Type.Object(
  {
    ...zoneFields,
    record_count: Type.Integer({ minimum: 0, description: `Values of all its records, at most ${RECORDS_MAX}.` }),
    delegation: Type.Object(
      {
        status: Type.Enum([...delegationStatuses], {
          description:
            'delegated: all name servers found are these. partly: some are. elsewhere: none is. none: there are no NS records. unknown: no resolver answered.',
        }),
        name_servers: Type.Array(Type.String({ description: 'A host.' }), { description: 'The NS records found now.' }),
      },
      { description: 'Where the world finds the zone now.' },
    ),
  },
  { title: 'DnsZoneDetail' },
);

export const recordSchema = Type.Object(
  {
    zone: Type.String({ description: 'Its zone.' }),
    name: Type.String({ description: 'Its whole name, without the last dot.' }),
    type: typeField,
    ttl: Type.Integer({ description: 'Seconds for which resolvers keep it.' }),
    values: Type.Array(Type.String({ description: 'A value; a TXT as it is, without quotes.' }), {
      description: 'All values of this name and type.',
    }),
    updated_at: instantOrNull('When it was last set; null: at a vendor, which does not tell.'),
  },
  { title: 'DnsRecord' },
);

export const lookupNameField = Type.String({
  minLength: 1,
  maxLength: TYPED_CHARACTERS_MAX,
  pattern: NAME_PATTERN,
  description: 'The name to look up, such as www.example.org.',
});
export const lookupTypeField = Type.Optional(
  Type.Enum([...recordTypes, 'SOA'], { default: 'A', description: 'Type of record; A when not sent.' }),
);
export const rcodeSchema = Type.String({
  description:
    'As DNS says it: NOERROR, NXDOMAIN (the name does not exist), SERVFAIL, REFUSED…; or TIMEOUT (no answer in 2 s), UNREACHABLE, MALFORMED.',
});
export const foundSchema = Type.Object({
  name: Type.String({ description: 'Whose record it is: behind an alias another name.' }),
  type: Type.String({ description: 'Its type.' }),
  ttl: Type.Integer({ description: 'Seconds for which it may be kept.' }),
  data: Type.String({ description: 'Its value; a TXT without quotes.' }),
});
