import Type from 'typebox';
import { listOf } from '../../../../kit/resource.ts';
import { iso } from '../../../../lib/time.ts';
import { requireRecordName } from '../../records/names.ts';
import { listSets, positionOf, type RecordRow, setOf } from '../../records/store.ts';
import { nameField, recordSchema, typeField, zoneField } from '../../schemas.ts';
import { requireZone } from '../../zones/resource.ts';

interface ListedRow extends RecordRow {
  readonly zone: string;
}

export const listRecords = listOf(
  {
    noun: 'record',
    output: recordSchema,
    show: (row: ListedRow) => ({ zone: row.zone, ...setOf(row), updated_at: iso(row.updated_at) }),
    async list(db, ctx, { after, limit, filters: wanted = {} }): Promise<readonly ListedRow[]> {
      const { zone } = await requireZone(db, ctx, wanted.zone ?? '');
      const { name = null, type = null } = wanted;
      const narrowed = { name: name === null ? null : requireRecordName(name, zone), type };
      const rows = await listSets(db, { accountId: ctx.accountId, zone }, { after, limit, ...narrowed });
      return rows.map((row) => ({ ...row, zone }));
    },
    positionOf,
  },
  {
    path: '/v1/dns/record/list',
    summary: 'Lists the records of a zone.',
    description:
      'Record sets by name and type, page by page. SOA and NS records that this service adds are not among them.',
    keywords: ['list dns records', 'show records of a domain'],
    errors: ['NOT_FOUND'],
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
