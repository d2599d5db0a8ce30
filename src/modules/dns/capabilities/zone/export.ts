import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { NS_TTL } from '../../limits.ts';
import { readZone } from '../../records/read.ts';
import { zoneField } from '../../schemas.ts';
import type { DnsState } from '../../state.ts';
import { vendorErrors } from '../../vendors/errors.ts';
import { requireZone } from '../../zones/resource.ts';
import { writeZoneFile } from '../../zones/zone-file.ts';

export const exportZone = defineCapability<DnsState>()({
  method: 'GET',
  path: '/v1/dns/zone/export/{zone}',
  summary: 'Exports a zone as a zone file.',
  description:
    'All records as a zone file (RFC 1035), with SOA and NS records, which every name server and dns.zone.import read.',
  keywords: ['export zone file', 'back up dns records'],
  input: Type.Object({ zone: zoneField }),
  output: Type.Object({
    zone: Type.String({ description: 'Its name.' }),
    content: Type.String({ description: 'The zone file.' }),
  }),
  errors: ['NOT_FOUND', ...vendorErrors],
  examples: [
    {
      title: 'A new zone',
      before: [{ capability: 'dns.zone.create', input: { zone: 'shop.test' } }],
      input: { zone: '$0.zone' },
    },
  ],
  async run({ ctx, input, state }) {
    const row = await requireZone(ctx.core.db, ctx, input.zone);
    const { zone, serial } = row;
    ctx.requireAnswerRoom();
    const { sets, nameServers } = await readZone(ctx, state, row);
    const content = await writeZoneFile({ zone, serial, nameServers, nsTtl: NS_TTL }, sets);
    ctx.holdMade(content.length);
    return { data: { zone, content } };
  },
});
