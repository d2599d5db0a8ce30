// A look-up of any name, and what the resolver said.
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { badge, facts, table } from '../../../kit/console/table.ts';
import { short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { lookup } from '../capabilities/lookup.ts';
import { dnsTabs, LOOKUP } from './tabs.ts';

const TYPES = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SOA', 'SRV', 'CAA', 'PTR'] as const;

export const lookupPage: ConsolePage = {
  name: 'dns_lookup',
  path: LOOKUP,
  needs: lookup,
  show,
};

async function show(visit: Visit): Promise<View> {
  const name = visit.query.get('name')?.trim() ?? '';
  const type = TYPES.find((each) => each === visit.query.get('type')) ?? 'A';
  const resolver = visit.query.get('resolver')?.trim() || undefined;
  const options = TYPES.map((each) => html`<option${each === type ? html` selected` : ''}>${each}</option>`);
  const form = html`<form method="get" class="row" role="search"><label>Name <input type="search" name="name" value="${name}" size="30" placeholder="www.example.org" spellcheck="false" autocapitalize="off"></label>
<label>Type <select name="type">${options}</select></label>
<label>Resolver <input name="resolver" value="${resolver ?? ''}" size="16" placeholder="the usual one" spellcheck="false"></label> <button>Look up</button></form>`;
  const read = name === '' ? null : await visit.call(lookup, { name, type, resolver });
  const content = html`<h1>DNS</h1>
${dnsTabs(visit, LOOKUP)}
${form}
${read === null ? html`<p class="quiet">Asks a resolver now for the records of any name.</p>` : panel(visit, 'Answer', read, answerView)}`;
  return { title: 'Look up', content };
}

function answerView({ name, type, resolver, rcode, answers, authenticated, latency_ms }: DataOf<typeof lookup>): Html {
  const kind = rcode === 'NOERROR' ? 'good' : rcode === 'NXDOMAIN' ? 'warning' : 'critical';
  return html`${facts([
    ['Question', html`<span class="breaking">${short(name, 120)}</span> ${type}`],
    ['Code', badge(rcode, kind)],
    ['Resolver', resolver],
    ['Time', `${latency_ms} ms`],
    ['DNSSEC', authenticated ? 'Verified by the resolver.' : 'Not verified.'],
  ])}
${table({
  caption: 'Records',
  rows: answers,
  empty: html`<p>There are no such records.</p>`,
  columns: [
    { title: 'Name', cell: (record) => html`<span class="breaking">${short(record.name, 120)}</span>` },
    { title: 'Type', cell: (record) => short(record.type, 20) },
    { title: 'TTL (s)', kind: 'number', cell: ({ ttl }) => String(ttl) },
    { title: 'Data', cell: ({ data }) => html`<code class="breaking">${short(data, 500)}</code>` },
  ],
})}`;
}
