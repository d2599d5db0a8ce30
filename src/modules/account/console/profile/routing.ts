// Vendor routing of the account: the chain of each capability, the excluded vendors, and a test that shows which vendors a call would find now.

import { actForm } from '../../../../kit/console/form.ts';
import { type Act, actOf } from '../../../../kit/console/page.ts';
import { badge, table } from '../../../../kit/console/table.ts';
import { short } from '../../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import type { routingGet } from '../../capabilities/routing/get.ts';
import { routingSet } from '../../capabilities/routing/set.ts';
import { routingTest } from '../../capabilities/routing/test.ts';

interface Link {
  readonly vendor: string;
  readonly model: string;
  readonly up: boolean;
}

export type Routing = DataOf<typeof routingGet>['capabilities'][number];

type Tried = DataOf<typeof routingTest>;

export const routingActs: Readonly<Record<string, Act>> = {
  routing: {
    capability: routingSet,
    input: (form) => ({
      capability: form.get('capability'),
      exclude: (form.get('exclude') ?? '').split(/[\s,]+/).filter((vendor) => vendor !== ''),
    }),
    done: 'Routing saved.',
  },
  routing_test: actOf({
    capability: routingTest,
    input: (form) => ({ capability: form.get('capability') }),
    done: 'Routing tested.',
    answerView(data, visit, form) {
      visit.tell(routingTest, { capability: form.get('capability') });
      return { title: 'Routing', content: chainView(visit, data) };
    },
  }),
};

export function routing(visit: Visit, all: readonly Routing[]): Html {
  const maySet = visit.may(routingSet);
  return table({
    caption: 'Routing',
    rows: all,
    empty: html`<p>No vendors are configured.</p>`,
    columns: [
      { title: 'Capability', cell: ({ capability }) => capability },
      { title: 'Region', cell: ({ region }) => region },
      { title: 'Order', cell: ({ chain }) => links(chain) },
      {
        title: 'Excluded',
        cell: ({ capability, exclude }) => (maySet ? excludeForm(visit, capability, exclude) : exclude.join(', ')),
      },
      {
        title: 'Test',
        cell: ({ capability }) =>
          actForm(visit, 'routing_test', html`<button>Test<span class="unseen"> ${capability}</span></button>`, {
            capability,
          }),
      },
    ],
  });
}

function links(chain: readonly Link[]): Html {
  if (chain.length === 0) return html`<span class="quiet">none</span>`;
  const each = ({ vendor, model, up }: Link) =>
    html`<li>${short(`${vendor} ${model}`, 80)} ${up ? '' : badge('down', 'critical')}</li>`;
  return html`<ol class="chain">${chain.map(each)}</ol>`;
}

/** One of several on the page: it and what it was refused for are told by its capability. */
function excludeForm(visit: Visit, capability: string, exclude: readonly string[]): Html {
  const { refused } = visit;
  const sent = refused?.act === 'routing' && refused.form.get('capability') === capability ? refused : null;
  const id = `exclude-${capability}`;
  const tied = sent === null ? '' : html` aria-invalid="true" aria-describedby="${id}-fault"`;
  return html`${actForm(
    visit,
    'routing',
    html`<label class="unseen" for="${id}">Vendors excluded from ${capability}</label><input id="${id}" name="exclude" value="${sent?.form.get('exclude') ?? exclude.join(' ')}" size="14" spellcheck="false"${tied}> <button>Set<span class="unseen"> ${capability}</span></button>`,
    { capability },
  )}${sent === null ? '' : html`<p class="fault" id="${id}-fault">${sent.problem.message}</p>`}`;
}

function chainView(visit: Visit, { capability, region, chain, excluded, reason }: Tried): Html {
  return html`<p><a href="${visit.path('/account')}">Account</a></p><h1>Routing of ${capability}</h1>
<p>In the region ${region}${excluded.length === 0 ? '' : html`, without ${short(excluded.join(', '), 200)}`}.${reason === null ? '' : html` No vendor: ${reason.replaceAll('_', ' ')}.`}</p>
${table({
  caption: 'Chain',
  rows: chain,
  empty: html`<p>A call would be refused.</p>`,
  columns: [
    { title: 'Vendor', cell: ({ position, vendor }) => html`${position}. ${short(vendor, 80)}` },
    { title: 'Model', cell: ({ model }) => short(model, 80) },
    { title: 'Status', cell: ({ up }) => (up ? badge('up', 'good') : badge('down', 'critical')) },
    { title: 'Price', usd: ({ price_usd: price }) => price },
  ],
})}`;
}
