// Language models: which there are, what they cost and whether they answer, what was spent on them, and one question to try one, with the call
// that asked it.

import { copiedBlock } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actForm, field, numberOf, textOf } from '../../../kit/console/form.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { lastDays } from '../../../kit/console/period.ts';
import { badge, facts, table } from '../../../kit/console/table.ts';
import { count, payload, short } from '../../../kit/console/text.ts';
import type { DataOf, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { chat as aiChat } from '../capabilities/chat.ts';
import { models as aiModels } from '../capabilities/models.ts';
import { usage as aiUsage } from '../capabilities/usage.ts';

type Model = ItemOf<typeof aiModels>;

type Usage = DataOf<typeof aiUsage>;

type Completion = DataOf<typeof aiChat>;

const DAYS = 30;
const MODELS_MAX = 50;
const CHAT = 'chat';

const question = (form: URLSearchParams) => ({
  model: textOf(form, 'model') ?? 'auto',
  messages: [{ role: 'user', content: form.get('prompt') ?? '' }],
  max_completion_tokens: numberOf(form, 'max_completion_tokens') ?? null,
});

const chat: Act<typeof aiChat> = {
  capability: aiChat,
  input: question,
  done: 'The model answered.',
  shown(data, visit, form) {
    visit.tell(aiChat, question(form));
    return { title: 'An answer', content: answered(visit, data, form) };
  },
};

export const aiPage: ConsolePage = {
  name: 'ai',
  path: '/ai',
  needs: aiModels,
  nav: { label: 'AI', key: 'a', group: 'make', holds: null },
  show,
  acts: { [CHAT]: chat },
};

async function show(visit: Visit): Promise<View> {
  const [models, usage] = await Promise.all([visit.call(aiModels), visit.call(aiUsage, lastDays(visit, DAYS))]);
  const content = html`<h1>AI</h1>
${visit.may(aiChat) ? html`<section class="panel"><h2>Try a model</h2>${chatForm(visit, () => null)}</section>` : ''}
${panel(visit, `Spent in ${DAYS} days`, usage, (data) => spent(visit, data))}
${panel(visit, 'Models', models, ({ items }) => listed(visit, items))}`;
  return { title: 'AI', content };
}

function chatForm(visit: Visit, value: (name: string) => string | null): Html {
  return actForm(
    visit,
    CHAT,
    html`${field(visit, CHAT, { name: 'prompt', label: 'Prompt', rows: 4, value: value('prompt') ?? '', isRequired: true })}
<div class="pair">${field(visit, CHAT, { name: 'model', label: 'Model', value: value('model') ?? 'auto', attributes: html`spellcheck="false" autocapitalize="off"` })}
${field(visit, CHAT, { name: 'max_completion_tokens', label: 'Tokens of the answer, at most', value: value('max_completion_tokens') ?? '500', attributes: html`inputmode="numeric"` })}</div>
<button class="main">Ask</button> <span class="quiet">billed as the call</span>`,
  );
}

function answered(visit: Visit, { choices: [first], model, usage }: Completion, form: URLSearchParams): Html {
  return html`<p><a href="${visit.path('/ai')}">AI</a></p>
<h1>An answer</h1>
${payload(first?.message?.content ?? '', 'Answer', { call: 'ai.chat' })}
${facts([
  ['Model', short(model, 100)],
  ['Tokens', `${count(usage.prompt_tokens ?? 0)} in, ${count(usage.completion_tokens ?? 0)} out`],
  ['Ended by', short(first?.finish_reason ?? '', 60)],
])}
<h2>The call</h2>
${copiedBlock(html`<pre class="scroll" tabindex="0" aria-label="The call">${visit.curl(aiChat, question(form))}</pre>`, 'the call')}
<section class="panel"><h2>Ask again</h2>${chatForm(visit, (name) => form.get(name))}</section>`;
}

function spent(visit: Visit, { by_model: all }: Usage): Html {
  const usagePath = (capability: string) =>
    visit.path(`/usage?capability=${encodeURIComponent(capability)}&period=${DAYS}d`);
  const rest = all.length - MODELS_MAX;
  return html`${table({
    caption: 'Spend by model',
    rows: all.slice(0, MODELS_MAX),
    empty: html`<p>No model was asked, or none of the answers cost anything.</p>`,
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
  })}${rest > 0 ? html`<p class="quiet">${count(rest)} more cost less: <code>ai.usage</code> has them all.</p>` : ''}`;
}

function listed(visit: Visit, all: readonly Model[]): Html {
  const asked = visit.query.get('search')?.trim() ?? '';
  // A name alone stands for the same models that stand there with their vendor.
  const found = all.filter(({ id, owned_by }) => (id.includes('/') || owned_by === 'self') && id.includes(asked));
  const price = (name: string) => (model: Model) => model.pricing?.[name] ?? null;
  return html`<form method="get" class="row"><label>Name <input type="search" name="search" value="${asked}" size="24" spellcheck="false"></label> <button>Search</button> <a href="${visit.path('/account')}">Which vendors are asked</a></form>
${table({
  caption: 'Models',
  rows: found.slice(0, MODELS_MAX),
  empty: html`<p>No model has such a name.</p>`,
  columns: [
    { title: 'Model', cell: ({ id }) => short(id, 100) },
    { title: 'State', cell: ({ up }) => (up ? badge('up', 'good') : badge('down', 'critical')) },
    { title: 'Serves', cell: ({ capabilities }) => capabilities.join(', ') },
    { title: 'Region', cell: ({ region }) => (region === null ? '' : short(region, 40)) },
    { title: 'Context', kind: 'number', cell: ({ context_length: tokens }) => (tokens === null ? '' : count(tokens)) },
    { title: 'Million tokens in', usd: price('input') },
    { title: 'Million tokens out', usd: price('output') },
  ],
})}
${found.length > MODELS_MAX ? html`<p class="quiet">${count(found.length - MODELS_MAX)} more: search for a part of the name.</p>` : ''}`;
}
