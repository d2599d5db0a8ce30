import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { LOOKUP_TOKENS } from '../../limits.ts';
import { countRecords } from '../../records/store.ts';
import { zoneDetailSchema, zoneField } from '../../schemas.ts';
import type { DnsState } from '../../state.ts';
import { lookAtDelegation, nameServersOf } from '../../zones/delegation.ts';
import { requireZone, showZone } from '../../zones/resource.ts';

export const getZone = defineCapability<DnsState>()({
  method: 'GET',
  path: '/v1/dns/zone/get/{zone}',
  summary: 'Shows a DNS zone, and whether it is delegated here.',
  description:
    'The NS records of the zone are looked up now, which takes up to 4 s and counts as a look-up. `delegated` means that the domain leads to this service; ' +
    'a change at the registrar takes minutes to two days to be seen.',
  keywords: ['check nameservers', 'is my domain delegated', 'zone details'],
  input: Type.Object({ zone: zoneField }),
  output: zoneDetailSchema,
  errors: ['NOT_FOUND'],
  examples: [
    {
      title: 'One zone',
      before: [{ capability: 'dns.zone.create', input: { zone: 'shop.test' } }],
      input: { zone: '$0.zone' },
      expect: { status: 'active', record_count: 0 },
    },
  ],
  async run({ ctx, input, state }) {
    const { core, accountId } = ctx;
    const row = await requireZone(core.db, ctx, input.zone);
    ctx.weigh(LOOKUP_TOKENS - 1);
    const place = { accountId, zone: row.zone };
    const [record_count, wanted] = await Promise.all([
      countRecords(core.db, place),
      nameServersOf(core.db, place, state.names),
    ]);
    const delegation = await state.lookups.run(accountId, () =>
      lookAtDelegation(state.settings.resolvers, row.zone, wanted),
    );
    return { data: { ...showZone(row, state), record_count, delegation } };
  },
});
