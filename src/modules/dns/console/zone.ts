// One zone: its records with a form for more, its name servers and whether the domain leads there, and the way to delete it.
import { copiedId } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actForm, choice, field, numberOf, textOf } from '../../../kit/console/form.ts';
import { type NewForm, newLink } from '../../../kit/console/new.ts';
import { actOf } from '../../../kit/console/page.ts';
import { type ResourcePage, resourcePages } from '../../../kit/console/resource-pages.ts';
import { badge, facts, more, table, teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { deleteRecord } from '../capabilities/record/delete.ts';
import { listRecords } from '../capabilities/record/list.ts';
import { setRecord } from '../capabilities/record/set.ts';
import { deleteZone } from '../capabilities/zone/delete.ts';
import { getZone } from '../capabilities/zone/get.ts';
import { ZONES, zonePath } from './tabs.ts';

type Zone = DataOf<typeof getZone>;
type Records = DataOf<typeof listRecords>;

const ROWS = 50;
const TYPES = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SRV', 'CAA', 'PTR'].map((type) => [type, type] as const);

const newRecord: NewForm = {
  act: 'set',
  heading: 'Set record',
  capability: setRecord,
  form: recordForm,
  intro: 'Takes the place of all values of this name and type.',
};

const zonePage: ResourcePage<Zone> = {
  below: '',
  newForm: newRecord,
  actions: (visit) => newLink(visit, newRecord),
  show,
  acts: {
    set: actOf({
      capability: setRecord,
      input: (form, { params }) => ({
        zone: params.zone,
        name: textOf(form, 'name') ?? '@',
        type: textOf(form, 'type'),
        ttl: numberOf(form, 'ttl'),
        values: linesOf(form),
      }),
      done: 'Record set.',
      next: ({ zone }) => zonePath(zone),
    }),
    remove: {
      capability: deleteRecord,
      input: (form, { params }) => ({ zone: params.zone, name: form.get('name') ?? '', type: form.get('type') ?? '' }),
      done: 'Record deleted.',
    },
  },
};

export const zonePages = resourcePages<Zone>({
  name: 'dns_zone',
  noun: 'zone',
  path: `${ZONES}/{zone}`,
  list: { title: 'DNS', path: ZONES },
  needs: getZone,
  read: (visit) => visit.need(getZone, { zone: visit.params.zone }),
  nameOf: ({ zone }) => zone,
  pages: [zonePage],
  deletion: { capability: deleteZone, warning: deletionWords, effect: (_, zone) => deletionWords(zone) },
});

async function show(visit: Visit, found: Zone) {
  const cursor = visit.query.get('cursor') ?? undefined;
  const records = await visit.call(listRecords, { zone: found.zone, cursor, limit: ROWS });
  const content = html`${panel(visit, 'Records', records, (page) => html`${recordTable(visit, page, found.zone)}${more(visit, page)}`)}
<section class="panel"><h2>Name servers</h2>${nameServers(visit, found)}</section>`;
  return { content };
}

function recordTable(visit: Visit, { items }: Records, zone: string): Html {
  return table({
    caption: 'Records',
    rows: items,
    empty: teach(
      'No records yet, beside SOA and NS of the zone itself. To set one:',
      visit.samples([[setRecord, { zone, name: 'www', type: 'A', values: ['192.0.2.1'] }]]),
    ),
    columns: [
      { title: 'Name', cell: ({ name }) => html`<span class="breaking">${short(name, 120)}</span>` },
      { title: 'Type', cell: ({ type }) => type },
      { title: 'TTL (s)', kind: 'number', cell: ({ ttl }) => String(ttl) },
      {
        title: 'Values',
        cell: ({ values }) =>
          html`${values.slice(0, 10).map((value) => html`<div class="breaking"><code>${short(value, 200)}</code></div>`)}${values.length > 10 ? html`<div>and ${values.length - 10} more</div>` : ''}`,
      },
      { title: 'Set', cell: ({ updated_at }) => ago(visit, updated_at, 'not told') },
      {
        title: 'Delete',
        cell: ({ name, type }) =>
          visit.may(deleteRecord) ? actForm(visit, 'remove', html`<button>Delete</button>`, { name, type }) : '',
      },
    ],
  });
}

const words: Readonly<
  Record<Zone['delegation']['status'], readonly [text: string, kind: 'good' | 'warning' | 'critical' | 'plain']>
> = {
  delegated: ['The domain leads to these name servers.', 'good'],
  partly: ['Some of its name servers are not these: answers may differ.', 'warning'],
  elsewhere: ['The domain leads to other name servers. Set these where it is registered.', 'warning'],
  none: ['The domain has no name servers yet. Set these where it is registered.', 'warning'],
  unknown: ['No resolver answered: look again later.', 'plain'],
};

function nameServers(visit: Visit, found: Zone): Html {
  const { name_servers: names, delegation, status, serial, updated_at, vendor } = found;
  const [text, kind] = words[delegation.status];
  return html`<p>${badge(delegation.status, kind)} ${text}</p>
${facts([
  ['Status', status === 'active' ? null : 'Released: another account has added it.'],
  ['Answered by', vendor === 'embedded' ? 'this service' : short(vendor, 80)],
  ['Set these', html`${names.map((name) => html`<div>${copiedId(name, 'the name')}</div>`)}`],
  ['Found', delegation.name_servers.length === 0 ? null : short(delegation.name_servers.join(', '), 300)],
  ['Serial', String(serial)],
  ['Changed', ago(visit, updated_at)],
])}`;
}

function recordForm(visit: Visit, act: string): Html {
  return html`<div class="pair">${field(visit, act, { name: 'name', label: 'Name', value: '@', hint: '@ is the zone itself, * all other names.', attributes: html`spellcheck="false" autocapitalize="off"` })}
${choice(visit, act, { name: 'type', label: 'Type', value: 'A', options: TYPES })}
${field(visit, act, { name: 'ttl', label: 'TTL (s)', value: '300', attributes: html`inputmode="numeric"` })}</div>
${field(visit, act, { name: 'values', label: 'Values', rows: 4, isRequired: true, hint: 'One a line, such as 192.0.2.1 of A, or 10 mail.example.org of MX.' })}
<button class="main">Set record</button>`;
}

function linesOf(form: URLSearchParams): readonly string[] {
  return (form.get('values') ?? '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function deletionWords({ vendor }: Zone): string {
  return vendor === 'embedded'
    ? 'Its records are gone at once, and its names are answered for no more.'
    : 'It is let go here. Its vendor keeps it, with its records.';
}
