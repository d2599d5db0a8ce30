// Language models: which there are, what they cost and whether they answer, what was spent on them, and one question to try one, with the call
// that asked it.
import { type Html, html } from '../../../lib/html.ts';
import { curlOf } from '../../documents/curl.ts';
import type { Act, ConsolePage, View } from '../page.ts';
import { panel } from '../parts/failure.ts';
import { actForm, field, numberOf, textOf } from '../parts/form.ts';
import { lastDays } from '../parts/period.ts';
import { badge, facts, table } from '../parts/table.ts';
import { count, payload, short } from '../parts/text.ts';
import type { Visit } from '../visit.ts';

interface Model {
  readonly id: string;
  readonly owned_by: string;
  readonly region: string | null;
  readonly capabilities: readonly string[];
  readonly context_length: number | null;
  readonly pricing: Readonly<Record<string, number>> | null;
  readonly up: boolean;
}

interface Usage {
  readonly by_model: readonly {
    readonly model: string;
    readonly capability: string;
    readonly calls: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly spend_usd: number;
  }[];
}

interface Completion {
  readonly choices: readonly { readonly message?: { readonly content?: unknown }; readonly finish_reason?: string }[];
  readonly model: string;
  readonly usage: { readonly prompt_tokens?: number; readonly completion_tokens?: number };
}

const DAYS = 30;
const MODELS_MAX = 50;
const CHAT = 'chat';

const chat = {
  capability: 'ai.chat',
  input: (form) => ({
    model: textOf(form, 'model') ?? 'auto',
    messages: [{ role: 'user', content: form.get('prompt') ?? '' }],
    max_completion_tokens: numberOf(form, 'max_completion_tokens') ?? null,
  }),
  done: 'The model answered.',
  shown(data, visit, form) {
    visit.tell('ai.chat', chat.input(form));
    return { title: 'An answer', content: answered(visit, data as Completion, form) };
  },
} satisfies Act;

export const aiPage: ConsolePage = {
  name: 'ai',
  path: '/ai',
  needs: 'ai.models',
  nav: { label: 'AI', key: 'a' },
  show,
  acts: { [CHAT]: chat },
};

async function show(visit: Visit): Promise<View> {
  const [models, usage] = await Promise.all([
    visit.call<{ readonly items: readonly Model[] }>('ai.models'),
    visit.call<Usage>('ai.usage', lastDays(visit, DAYS)),
  ]);
  const content = html`<h1>AI</h1>
${visit.may(chat.capability) ? html`<section class="panel"><h2>Try a model</h2>${chatForm(visit, () => null)}</section>` : ''}
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
<button class="main">Ask</button> <span class="quiet">costs what the call costs</span>`,
  );
}

function answered(visit: Visit, { choices: [first], model, usage }: Completion, form: URLSearchParams): Html {
  const input = chat.input(form);
  return html`<p><a href="${visit.path('/ai')}">AI</a></p>
<h1>An answer</h1>
${payload(first?.message?.content ?? '', 'Answer', { call: 'ai.chat' })}
${facts([
  ['Model', short(model, 100)],
  ['Tokens', `${count(usage.prompt_tokens ?? 0)} in, ${count(usage.completion_tokens ?? 0)} out`],
  ['Ended by', short(first?.finish_reason ?? '', 60)],
])}
<h2>The call</h2>
<pre class="scroll" tabindex="0" aria-label="The call">${curlOf(visit.capability(chat.capability), input, visit.baseUrl)}</pre>
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
          visit.may('account.usage') ? html`<a href="${usagePath(capability)}">${capability}</a>` : capability,
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
