import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { alsoNamed } from '../../../../kit/second-names.ts';
import { vendorField, zoneField, zoneSchema } from '../../schemas.ts';
import type { DnsState } from '../../state.ts';
import { vendorErrors } from '../../vendors/errors.ts';
import { addZone } from '../../zones/add.ts';

export const createZone = defineCapability<DnsState>()({
  method: 'POST',
  path: '/v1/dns/zone/create',
  summary: 'Creates a DNS zone.',
  description:
    'The zone is answered for within a second, with SOA and NS records of this service. Set `name_servers` of the answer where the domain is registered; ' +
    'dns.zone.get tells whether that has reached the world. A zone exists once in the service: one that another account holds, or that lies within or ' +
    'above one of theirs, is ALREADY_EXISTS until they delete it, or 7 days after it was last delegated here. With `vendor` it stands at a name server ' +
    'that the operator has configured and that has the zone already; its records are read and changed there.',
  keywords: ['add a domain to dns', 'create hosted zone', 'host dns for my domain', 'nameservers for a domain'],
  input: Type.Object({ zone: alsoNamed(zoneField, 'name'), vendor: vendorField }),
  output: zoneSchema,
  errors: ['ALREADY_EXISTS', 'QUOTA_EXCEEDED', ...vendorErrors],
  limits: { zones: '50 zones an account (standard tier), 500 (pro), 5,000 (enterprise).' },
  examples: [{ title: 'A domain', input: { zone: 'shop.test' }, expect: { status: 'active' } }],
  run: ({ ctx, input, state }) => addZone(ctx, input, state),
});
