import Type from 'typebox';
import { listOf } from '../../../../kit/resource.ts';
import { isoOrNull } from '../../../../lib/time.ts';
import { requireRecordName } from '../../records/names.ts';
import { hostedZone } from '../../records/read.ts';
import type { RecordSet } from '../../records/sets.ts';
import { listSets, type Narrowed, positionOf, setOf } from '../../records/store.ts';
import { nameField, recordSchema, typeField, zoneField } from '../../schemas.ts';
import type { DnsState } from '../../state.ts';
import { vendorErrors } from '../../vendors/errors.ts';
import { EMBEDDED } from '../../vendors/hosts.ts';
import { requireZone } from '../../zones/resource.ts';

interface ListedRow extends RecordSet {
  readonly zone: string;
  /** Null: at a vendor. */
  readonly updated_at: number | null;
}

export const listRecords = listOf(
  {
    noun: 'record',
    output: recordSchema,
    show: ({ zone, name, type, ttl, values, updated_at }: ListedRow) => ({
      zone,
      name,
      type,
      ttl,
      values,
      updated_at: isoOrNull(updated_at),
    }),
    async list(db, ctx, { after, limit, filters: wanted = {} }, state: DnsState): Promise<readonly ListedRow[]> {
      const found = await requireZone(db, ctx, wanted.zone ?? '');
      const { zone } = found;
      const { name = null, type = null } = wanted;
      const narrowed = { name: name === null ? null : requireRecordName(name, zone), type };
      if (found.vendor !== EMBEDDED) {
        const { sets } = await hostedZone(state, ctx.accountId, found);
        return pageOf(sets, { after, limit, ...narrowed }).map((set) => ({ ...set, zone, updated_at: null }));
      }
      const rows = await listSets(db, { accountId: ctx.accountId, zone }, { after, limit, ...narrowed });
      return rows.map((row) => ({ ...setOf(row), zone, updated_at: row.updated_at }));
    },
    positionOf,
  },
  {
    path: '/v1/dns/record/list',
    summary: 'Lists the records of a zone.',
    description:
      'Record sets by name and type, page by page. SOA and NS records that this service adds are not among them.',
    keywords: ['list dns records', 'show records of a domain'],
    errors: ['NOT_FOUND', ...vendorErrors],
    filters: {
      zone: zoneField,
      name: Type.Optional(nameField),
      type: Type.Optional(typeField),
    },
    examples: [
      {
        title: 'All of a zone',
        before: [{ capability: 'dns.zone.create', input: { zone: 'shop.test' } }],
        input: { zone: '$0.zone' },
        expect: { has_more: false },
      },
    ],
  },
);

/** Sets of a vendor are in the order of the list. */
function pageOf(
  sets: readonly RecordSet[],
  { after, limit, name, type }: Narrowed & { readonly after: string | null; readonly limit: number },
): readonly RecordSet[] {
  const [afterName = '', afterType = ''] = (after ?? '').split(' ');
  return sets
    .filter((set) => set.name > afterName || (set.name === afterName && set.type > afterType))
    .filter((set) => (name === null || set.name === name) && (type === null || set.type === type))
    .slice(0, limit);
}
