// Language models: which there are, what they cost and whether they answer, and what was spent on them.

import { copiedBlock } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { lastDays } from '../../../kit/console/period.ts';
import { badge, table } from '../../../kit/console/table.ts';
import { count, short } from '../../../kit/console/text.ts';
import type { DataOf, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { models as aiModels } from '../capabilities/models.ts';
import { usage as aiUsage } from '../capabilities/usage.ts';
import { aiHead } from './playground.ts';

type Model = ItemOf<typeof aiModels>;

type Usage = DataOf<typeof aiUsage>;

const DAYS = 30;
const MODELS_MAX = 50;

export const aiModelsPage: ConsolePage = {
  name: 'ai_models',
  path: '/ai/models',
  needs: aiModels,
  show,
};

async function show(visit: Visit): Promise<View> {
  const [models, usage] = await Promise.all([visit.call(aiModels), visit.call(aiUsage, lastDays(visit, DAYS))]);
  const content = html`${aiHead(visit, '/models')}
${panel(visit, `Spend in ${DAYS} days`, usage, (data) => spendTable(visit, data))}
${panel(visit, 'Models', models, ({ items }) => modelTable(visit, items))}
${connect(visit)}`;
  return { title: 'Models', content };
}

/** What programs that speak a wire of others are told. */
function connect(visit: Visit): Html {
  const { baseUrl } = visit;
  const variables = [
    ["OpenAI's clients", `export OPENAI_BASE_URL=${baseUrl}/v1 OPENAI_API_KEY=KEY`],
    ['Claude Code', `export ANTHROPIC_BASE_URL=${baseUrl} ANTHROPIC_AUTH_TOKEN=KEY ANTHROPIC_MODEL=auto`],
  ] as const;
  const each = ([client, text]: (typeof variables)[number]) =>
    html`<h3>${client}</h3>${copiedBlock(html`<pre class="text" tabindex="0" aria-label="${client}">${text}</pre>`, 'the variables')}`;
  return html`<section><h2>Connect a program</h2>${variables.map(each)}<p><a href="${visit.elsewhere('/docs/guides/ai')}">More clients</a></p></section>`;
}

function spendTable(visit: Visit, { by_model: all }: Usage): Html {
  const usagePath = (capability: string) =>
    visit.path(`/usage?capability=${encodeURIComponent(capability)}&period=${DAYS}d`);
  const rest = all.length - MODELS_MAX;
  return html`${table({
    caption: 'Spend by model',
    rows: all.slice(0, MODELS_MAX),
    empty: html`<p>Nothing was spent on models.</p>`,
    columns: [
      { title: 'Model', cell: ({ model }) => short(model, 100) },
      {
        title: 'Serves',
        cell: ({ capability }) =>
          visit.may({ id: 'account.usage' }) ? html`<a href="${usagePath(capability)}">${capability}</a>` : capability,
      },
      { title: 'Calls', kind: 'number', cell: ({ calls }) => count(calls) },
      { title: 'Tokens in', kind: 'number', cell: ({ input_tokens: tokens }) => count(tokens) },
      { title: 'Tokens out', kind: 'number', cell: ({ output_tokens: tokens }) => count(tokens) },
      { title: 'Spend', usd: ({ spend_usd }) => spend_usd },
    ],
  })}${rest > 0 ? html`<p class="quiet">${count(rest)} more cost less. <code>ai.usage</code> lists them all.</p>` : ''}`;
}

function modelTable(visit: Visit, all: readonly Model[]): Html {
  const asked = visit.query.get('search')?.trim() ?? '';
  // A name alone stands for the same models that stand there with their vendor.
  const found = all.filter(({ id, owned_by }) => (id.includes('/') || owned_by === 'self') && id.includes(asked));
  const price = (name: string) => (model: Model) => model.pricing?.[name] ?? null;
  return html`<form method="get" class="row"><label>Name <input type="search" name="search" value="${asked}" size="24" spellcheck="false"></label> <button>Search</button> <a href="${visit.path('/account')}">Choose vendors</a></form>
${table({
  caption: 'Models',
  rows: found.slice(0, MODELS_MAX),
  empty: html`<p>No model has this name.</p>`,
  columns: [
    { title: 'Model', cell: ({ id }) => short(id, 100) },
    { title: 'Status', cell: ({ up }) => (up ? badge('up', 'good') : badge('down', 'critical')) },
    { title: 'Serves', cell: ({ capabilities }) => capabilities.join(', ') },
    { title: 'Region', cell: ({ region }) => (region === null ? '' : short(region, 40)) },
    { title: 'Context', kind: 'number', cell: ({ context_length: tokens }) => (tokens === null ? '' : count(tokens)) },
    { title: 'Per million tokens in', usd: price('input') },
    { title: 'Per million tokens out', usd: price('output') },
  ],
})}
${found.length > MODELS_MAX ? html`<p class="quiet">${count(found.length - MODELS_MAX)} more: search for a part of the name.</p>` : ''}`;
}
