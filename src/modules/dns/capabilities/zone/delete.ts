import { deleteOf } from '../../../../kit/resource.ts';
import { zones } from '../../zones/resource.ts';

export const deleteZone = deleteOf(zones, {
  path: '/v1/dns/zone/delete/{zone}',
  description:
    'The zone and all its records are gone at once, and questions about it are refused within a second. Change the name servers at the registrar first. ' +
    'One at a vendor stays there with its records, and is only let go here.',
  keywords: ['delete dns zone', 'remove a domain'],
  examples: [
    {
      title: 'Not needed any more',
      before: [{ capability: 'dns.zone.create', input: { zone: 'shop.test' } }],
      input: { zone: '$0.zone' },
      expect: { deleted: true },
    },
  ],
});
