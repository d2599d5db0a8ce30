// The playground: a conversation with a model. The whole of it stands in the form, so that it goes on without scripts and without anything being
// kept here; each answer tells what it cost. Its script shows an answer as it comes.

import { copiedBlock } from '../../../kit/console/copied.ts';
import { actForm, field, numberOf, textOf } from '../../../kit/console/form.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { pageTabs } from '../../../kit/console/table.ts';
import { countOf, exactMoney, money } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { chat as aiChat } from '../capabilities/chat.ts';
import { models as aiModels } from '../capabilities/models.ts';

type Completion = DataOf<typeof aiChat>;

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Of an answer: the model, its tokens and its cost, in words. */
  readonly note?: string;
  readonly costUsd?: number;
}

const CHAT = 'chat';
const OFFERED_MAX = 200;
const TEXTS = ['system', 'model', 'temperature', 'max_completion_tokens'] as const;

const question = (form: URLSearchParams) => {
  const system = textOf(form, 'system');
  return {
    model: textOf(form, 'model') ?? 'auto',
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      ...turnsOf(form).map(({ role, content }) => ({ role, content })),
      { role: 'user', content: form.get('prompt') ?? '' },
    ],
    temperature: numberOf(form, 'temperature'),
    max_completion_tokens: numberOf(form, 'max_completion_tokens') ?? null,
  };
};

const chat: Act<typeof aiChat> = {
  capability: aiChat,
  input: question,
  done: 'The model answered.',
  answerView(data, visit, form, envelope) {
    visit.tell(aiChat, question(form));
    return { title: 'AI', hasPlayground: true, content: completionView(visit, data, form, costOf(envelope)) };
  },
};

export const aiPage: ConsolePage = {
  name: 'ai',
  path: '/ai',
  needs: aiModels,
  nav: { label: 'AI', key: 'a', group: 'make' },
  show,
  acts: { [CHAT]: chat },
};

/** What the pages of AI show above all else. */
export function aiHead(visit: Visit, here: '' | '/models'): Html {
  const tab = (text: string, below: string) => ({
    text,
    href: visit.path(`/ai${below}`),
    isHere: below === here,
  });
  return html`<h1>AI</h1>${pageTabs('Pages of AI', [tab('Playground', ''), tab('Models and spend', '/models')])}`;
}

async function show(visit: Visit): Promise<View> {
  const turns = visit.refused === null ? [] : turnsOf(visit.refused.form);
  const content = html`${aiHead(visit, '')}
${visit.may(aiChat) ? await playground(visit, turns, () => null) : html`<p class="quiet">You may look at the models, but not ask one.</p>`}`;
  return { title: 'AI', content, hasPlayground: true };
}

async function playground(visit: Visit, turns: readonly Turn[], value: (name: string) => string | null): Promise<Html> {
  const { data } = await visit.call(aiModels);
  return withModels(visit, turns, value, (data?.items ?? []).map(({ id }) => id).slice(0, OFFERED_MAX));
}

function withModels(
  visit: Visit,
  turns: readonly Turn[],
  value: (name: string) => string | null,
  models: readonly string[],
): Html {
  const numeric = html`inputmode="decimal"`;
  const list = html`list="chat-models" spellcheck="false" autocapitalize="off" autocomplete="off"`;
  const of = (name: (typeof TEXTS)[number], usual = '') => value(name) ?? usual;
  const settings = html`<div class="settings">
${field(visit, CHAT, { name: 'model', label: 'Model', value: of('model', 'auto'), attributes: list })}<datalist id="chat-models">${models.map((id) => html`<option value="${id}">`)}</datalist>
${field(visit, CHAT, { name: 'system', label: 'System prompt', value: of('system'), rows: 4 })}
<div class="pair">${field(visit, CHAT, { name: 'temperature', label: 'Temperature', value: of('temperature'), attributes: numeric, hint: 'Empty: the model decides.' })}
${field(visit, CHAT, { name: 'max_completion_tokens', label: 'Max tokens', value: of('max_completion_tokens', '500'), attributes: numeric })}</div></div>`;
  const isBegun = turns.length > 0;
  const cost = turns.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  const label = isBegun ? 'Your reply' : 'Prompt';
  return actForm(
    visit,
    CHAT,
    html`<div class="playground" data-wire="${visit.elsewhere('/console/wire/v1/chat/completions')}" data-call="${visit.elsewhere('/v1/ai/chat')}"><div>${conversation(turns)}
${field(visit, CHAT, { name: 'prompt', label, rows: 4, isRequired: true })}
<div class="actions"><button class="main">Send</button><a href="${visit.path('/ai')}" data-new${isBegun ? '' : html` hidden`}>New conversation</a>${isBegun ? html`<span class="quiet">${money(cost)} so far</span>` : html`<span class="quiet">Each answer costs what the model charges.</span>`}</div></div>${settings}</div>`,
    { turns: JSON.stringify(turns) },
  );
}

function conversation(turns: readonly Turn[]): Html {
  if (turns.length === 0) return html``;
  const each = (turn: Turn) =>
    html`<li class="${turn.role}"><h2>${turn.role === 'user' ? 'You' : 'Model'}</h2><pre class="text" tabindex="0" aria-label="${turn.role === 'user' ? 'Prompt' : 'Answer'}" dir="auto">${turn.content}</pre>${turn.note === undefined ? '' : html`<p class="quiet small">${turn.note}</p>`}</li>`;
  return html`<ol class="chat">${turns.map(each)}</ol>`;
}

function completionView(visit: Visit, data: Completion, form: URLSearchParams, costUsd: number): Html {
  const { prompt_tokens: read = 0, completion_tokens: made = 0 } = data.usage;
  const turns: readonly Turn[] = [
    ...turnsOf(form),
    { role: 'user', content: form.get('prompt') ?? '' },
    {
      role: 'assistant',
      content: data.choices[0]?.message?.content ?? '',
      note: `${data.model} · ${countOf(read + made, 'token')} · ${exactMoney(costUsd)}`,
      costUsd,
    },
  ];
  const models = [form.get('model') ?? ''].filter((id) => id !== '');
  return html`${aiHead(visit, '')}
${withModels(visit, turns, (name) => form.get(name), models)}
<details id="call"><summary>The call</summary>${copiedBlock(html`<pre class="text" tabindex="0" aria-label="The call">${visit.curl(aiChat, question(form))}</pre>`, 'the call')}</details>`;
}

/** What was said so far, as the form has it; what is no conversation is none. */
function turnsOf(form: URLSearchParams): Turn[] {
  const value = parseJson(form.get('turns') ?? '[]');
  return Array.isArray(value) ? value.filter(isTurn) : [];
}

function isTurn(value: unknown): value is Turn {
  if (value === null || typeof value !== 'object') return false;
  const { role, content, note, costUsd } = value as Readonly<Record<string, unknown>>;
  const isNoted = note === undefined || typeof note === 'string';
  const hasCost = costUsd === undefined || typeof costUsd === 'number';
  return (role === 'user' || role === 'assistant') && typeof content === 'string' && isNoted && hasCost;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function costOf(envelope: string): number {
  return (JSON.parse(envelope) as { readonly metadata: { readonly cost_usd: number } }).metadata.cost_usd;
}
