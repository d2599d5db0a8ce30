import Type from 'typebox';
import { listOf } from '../../../kit/resource.ts';
import { entryTable } from '../lists/entries.ts';
import { entryRecord } from '../lists/record.ts';
import { entrySchema, kindField, listField } from '../schemas.ts';

export const listEntries = listOf(
  { ...entryTable, noun: 'list entry', output: entrySchema, show: entryRecord },
  {
    path: '/v1/risk/list/entries',
    summary: 'Lists the entries of the allow and block lists.',
    description:
      'By kind and value, page by page, of both lists or of one. An expired entry no longer counts, and is removed within minutes.',
    keywords: ['show blocked users', 'list allowlist entries'],
    filters: { list: Type.Optional(listField), kind: Type.Optional(kindField) },
    examples: [
      {
        title: 'Who is blocked',
        before: [{ capability: 'risk.list.add', input: { list: 'block', kind: 'domain', value: 'example.net' } }],
        input: { list: 'block', limit: 10 },
        expect: { has_more: false },
      },
    ],
  },
);
