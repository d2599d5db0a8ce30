import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { RECORDS_MAX, ZONE_FILE_BYTES_MAX } from '../../limits.ts';
import { editZone } from '../../records/edit.ts';
import { zoneKey } from '../../records/names.ts';
import { BadLine } from '../../records/tokens.ts';
import { zoneField } from '../../schemas.ts';
import type { DnsState } from '../../state.ts';
import { vendorErrors } from '../../vendors/errors.ts';
import { readZoneFile, type ZoneFile } from '../../zones/zone-file.ts';

interface SentFile {
  readonly zone: string;
  readonly content: string;
  readonly replace?: boolean;
}

interface ImportBody {
  readonly zone: string;
  readonly replace: boolean;
  readonly file: ZoneFile;
}

export const importZone = defineCapability<DnsState>()({
  method: 'POST',
  path: '/v1/dns/zone/import',
  summary: 'Imports records from a zone file.',
  description:
    'Reads a zone file (RFC 1035) of a zone that you have created, all or nothing; a failure names the line. At a vendor a large file goes in parts, and the ' +
    'same call completes one that failed between them. Record sets of the file take the place of ' +
    'those with the same name and type; with `replace` all others are removed. SOA and NS records of the zone itself are left out: they are those of this ' +
    'service. $ORIGIN and $TTL are taken; $INCLUDE and $GENERATE are not, nor types that are not served.',
  keywords: ['import zone file', 'bind file', 'move dns records', 'restore dns records'],
  input: Type.Object({
    zone: zoneField,
    content: Type.String({
      minLength: 1,
      maxLength: ZONE_FILE_BYTES_MAX,
      description: 'Text of the zone file, such as `www 300 IN A 192.0.2.1`, a record a line.',
    }),
    replace: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Removes all records that are not in the file. False when not sent.',
      }),
    ),
  }),
  output: Type.Object({
    zone: Type.String({ description: 'Its name.' }),
    imported: Type.Integer({ description: 'Record sets that were set.' }),
    left_out: Type.Integer({ description: 'SOA and NS records of the zone itself, which were not.' }),
  }),
  errors: ['NOT_FOUND', 'QUOTA_EXCEEDED', ...vendorErrors],
  limits: { records: `${RECORDS_MAX} records a zone.`, content: '4 MiB.' },
  bodyBytesMax: ZONE_FILE_BYTES_MAX + 64 * 1024,
  bulk: {
    source: import.meta.url,
    reduce: ({ zone, content, replace = false }: SentFile) => {
      const key = zoneKey(zone);
      return { value: { zone: key, replace, file: fileOf(content, key) } satisfies ImportBody, transfer: [] };
    },
  },
  examples: [
    {
      title: 'Two names',
      before: [{ capability: 'dns.zone.create', input: { zone: 'shop.test' } }],
      input: { zone: '$0.zone', content: '$TTL 1h\n@ IN A 192.0.2.1\nwww IN CNAME @\n' },
      expect: { imported: 2, left_out: 0 },
    },
  ],
  run({ ctx, input, state }) {
    // What `bulk` made of the input.
    const { zone: key, replace, file } = input as unknown as ImportBody;
    return editZone(ctx, state, {
      zone: key,
      param: 'content',
      edits: () => [...(replace ? [{ kind: 'clear' as const }] : []), { kind: 'set', sets: file.sets }],
      answer: ({ zone }) => ({ zone, imported: file.sets.length, left_out: file.leftOut }),
    });
  },
});

function fileOf(content: string, zone: string): ZoneFile {
  try {
    return readZoneFile(content, zone);
  } catch (error) {
    if (error instanceof BadLine) throw invalidField('content', 'zone_file', error.message);
    throw error;
  }
}
