// The zones of the account, and a new one.
import { field, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { badge, teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import { html } from '../../../lib/html.ts';
import { createZone } from '../capabilities/zone/create.ts';
import { listZones } from '../capabilities/zone/list.ts';
import { dnsTabs, ZONES, zonePath } from './tabs.ts';

export const zonesPage = listPage({
  name: 'dns',
  path: ZONES,
  title: 'DNS',
  caption: 'All zones',
  list: listZones,
  nav: { label: 'DNS', key: 'z', group: 'reach' },
  intro: 'A zone holds the DNS records of a domain and of the names below it.',
  above: (visit) => dnsTabs(visit, ZONES),
  empty: (visit) => teach('No zones. To create one:', visit.samples([[createZone, { zone: 'example.org' }]])),
  columns: (visit) => [
    { title: 'Zone', cell: ({ zone }) => html`<a href="${visit.path(zonePath(zone))}">${short(zone, 80)}</a>` },
    { title: 'Status', cell: ({ status }) => badge(status, status === 'active' ? 'good' : 'critical') },
    { title: 'Answered by', cell: ({ vendor }) => (vendor === 'embedded' ? 'this service' : short(vendor, 40)) },
    { title: 'Serial', kind: 'number', cell: ({ serial }) => String(serial) },
    { title: 'Changed', cell: ({ updated_at }) => ago(visit, updated_at) },
    { title: 'Created', cell: ({ created_at }) => ago(visit, created_at) },
  ],
  create: {
    capability: createZone,
    heading: 'New zone',
    intro:
      'Use a domain that you own, or a name below one. Then set the name servers shown there where the domain is registered.',
    input: (form) => ({ zone: textOf(form, 'zone'), vendor: textOf(form, 'vendor') }),
    done: 'Zone created. Set its name servers next.',
    next: ({ zone }) => zonePath(zone),
    form: (visit, act) =>
      html`${field(visit, act, { name: 'zone', label: 'Domain', isRequired: true, attributes: html`inputmode="url" spellcheck="false" autocapitalize="off" placeholder="example.org"` })}
${field(visit, act, { name: 'vendor', label: 'Vendor', hint: 'Empty: the name servers of this service. Else a vendor of the operator that has the zone.', attributes: html`spellcheck="false" autocapitalize="off"` })}
<button class="main">Create zone</button>`,
  },
});
