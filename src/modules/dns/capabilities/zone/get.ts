import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { LOOKUP_TOKENS } from '../../limits.ts';
import { hostedZone } from '../../records/read.ts';
import { countRecords } from '../../records/store.ts';
import { zoneDetailSchema, zoneField } from '../../schemas.ts';
import type { DnsState } from '../../state.ts';
import { vendorErrors } from '../../vendors/errors.ts';
import { EMBEDDED } from '../../vendors/hosts.ts';
import { lookAtDelegation, nameServersOf } from '../../zones/delegation.ts';
import { requireZone, showZone } from '../../zones/resource.ts';
import type { ShownZone } from '../../zones/store.ts';

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
  errors: ['NOT_FOUND', ...vendorErrors],
  examples: [
    {
      title: 'One zone',
      before: [{ capability: 'dns.zone.create', input: { zone: 'shop.test' } }],
      input: { zone: '$0.zone' },
      expect: { status: 'active', record_count: 0 },
    },
  ],
  async run({ ctx, input, state }) {
    const { accountId } = ctx;
    const found = await requireZone(ctx.core.db, ctx, input.zone);
    ctx.weigh(LOOKUP_TOKENS - 1);
    const { row, record_count, wanted } =
      found.vendor === EMBEDDED ? await embeddedZone(ctx, state, found) : await zoneAtVendor(ctx, state, found);
    const delegation = await state.lookups.run(accountId, null, () =>
      lookAtDelegation(state.resolvers, row.zone, wanted),
    );
    return { data: { ...showZone(row, state), record_count, delegation } };
  },
});

async function embeddedZone({ core, accountId }: CallContext, { names }: DnsState, row: ShownZone) {
  const place = { accountId, zone: row.zone };
  const [record_count, wanted] = await Promise.all([
    countRecords(core.db, place),
    nameServersOf(core.db, place, names),
  ]);
  return { row, record_count, wanted };
}

async function zoneAtVendor({ accountId }: CallContext, state: DnsState, row: ShownZone) {
  const { sets, nameServers } = await hostedZone(state, accountId, row);
  return {
    row: { ...row, name_servers: JSON.stringify(nameServers) },
    record_count: sets.reduce((sum, { values }) => sum + values.length, 0),
    wanted: nameServers,
  };
}
