// The keys of the account: what each may do, in words, when it was last used, what it spends. A new secret is shown once.

import { copiedSecret } from '../../../../kit/console/copied.ts';
import { panel } from '../../../../kit/console/failure.ts';
import { actForm, choice, field, numberOf, textOf } from '../../../../kit/console/form.ts';
import { actOf, type ConsolePage, type View } from '../../../../kit/console/page.ts';
import { lastDays } from '../../../../kit/console/period.ts';
import { scopesField, scopesOf } from '../../../../kit/console/scope-picker.ts';
import { badge, more, type Page, table, tabs, withQuery } from '../../../../kit/console/table.ts';
import { ago, money, short } from '../../../../kit/console/text.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { keysCreate } from '../../capabilities/keys/create.ts';
import { keysList } from '../../capabilities/keys/list.ts';
import { usage as accountUsage } from '../../capabilities/usage.ts';
import { DAYS, type Key, scopesInWords } from './key.ts';

const ROWS = 50;
const CREATE = 'create';
const statuses = ['active', 'rotating', 'revoked', 'expired'] as const;

const create = actOf({
  capability: keysCreate,
  input: (form, visit) => ({
    name: textOf(form, 'name'),
    scopes: scopesOf(form, visit),
    expires_at: endOf(form),
    spend_cap_usd: numberOf(form, 'spend_cap_usd'),
    spend_cap_period: form.get('spend_cap_usd')?.trim() ? (textOf(form, 'spend_cap_period') ?? 'total') : undefined,
  }),
  done: 'Key created.',
  shown: secretPage,
});

/** Of a key in the table; its own page tells them all. */
const SCOPES_MAX = 4;

export const keysPage: ConsolePage = {
  name: 'keys',
  path: '/keys',
  needs: keysList,
  nav: { label: 'Keys', key: 'k', group: 'settings' },
  show,
  acts: { [CREATE]: create },
};

async function show(visit: Visit): Promise<View> {
  const asked = visit.query.get('status');
  const status = statuses.find((each) => each === asked);
  const [list, usage] = await Promise.all([
    visit.call(keysList, { status, cursor: visit.query.get('cursor') ?? undefined, limit: ROWS }),
    visit.call(accountUsage, lastDays(visit, DAYS)),
  ]);
  const spent = new Map((usage.data?.by_key ?? []).map(({ key_id, spend_usd }) => [key_id, spend_usd]));
  const content = html`<h1>Keys</h1>
<p>Give each program a key of its own, with no more than it needs: then it can be stopped alone.</p>
${statusTabs(visit, status)}
${panel(visit, status === undefined ? 'All keys' : `Keys that are ${status}`, list, (page) => html`${keyTable(visit, page, spent)}${more(visit, page)}`)}
${visit.may(keysCreate) ? html`<section class="panel"><h2>New key</h2>${createForm(visit)}</section>` : ''}`;
  return { title: 'Keys', content };
}

function statusTabs(visit: Visit, here: string | undefined): Html {
  const each = (text: string, status: string | null) => ({
    text,
    href: withQuery(visit, { status, cursor: null }),
    isHere: status === (here ?? null),
  });
  return tabs('State', [each('all', null), ...statuses.map((status) => each(status, status))]);
}

function keyTable(visit: Visit, { items }: Page<Key>, spent: ReadonlyMap<string, number>): Html {
  return table({
    caption: 'Keys',
    rows: items,
    empty: html`<p>There is no such key. Make one below.</p>`,
    columns: [
      {
        title: 'Name',
        cell: ({ id, name }) => html`<a href="${visit.path(`/keys/${id}`)}">${short(name ?? id, 60)}</a>`,
      },
      { title: 'May', cell: ({ scopes }) => scopesInWords(scopes, SCOPES_MAX) },
      {
        title: 'State',
        cell: ({ status, flagged_at }) =>
          html`${badge(status, status === 'active' ? 'good' : status === 'rotating' ? 'warning' : 'plain')}${flagged_at === null ? '' : html` ${badge('leak suspected', 'critical')}`}`,
      },
      { title: 'Secret', cell: ({ prefix, last4 }) => html`<code class="prefix">${prefix}…${last4}</code>` },
      { title: 'Last used', cell: ({ last_used_at }) => ago(visit, last_used_at) },
      {
        title: 'Cap',
        kind: 'number',
        cell: ({ spend_cap_usd: cap, spend_cap_period: of }) =>
          cap === null
            ? html`<span class="quiet">none</span>`
            : html`${money(cap)} ${of === 'total' ? 'in all' : (of ?? '')}`,
      },
      { title: `Spent in ${DAYS} days`, usd: ({ id }) => spent.get(id) ?? 0 },
    ],
  });
}

function createForm(visit: Visit): Html {
  return actForm(
    visit,
    CREATE,
    html`${field(visit, CREATE, { name: 'name', label: 'Name', hint: 'For people: which program has it.', attributes: html`maxlength="200"` })}
${scopesField(visit, CREATE, [])}
${field(visit, CREATE, { name: 'expires_at', label: 'Ends on', hint: 'At the end of that day (UTC). Empty: never.', attributes: html`type="date"` })}
${field(visit, CREATE, { name: 'spend_cap_usd', label: 'Spend cap, USD', hint: 'Empty: the balance and the budget are its only limits.', attributes: html`inputmode="decimal"` })}
${choice(visit, CREATE, {
  name: 'spend_cap_period',
  label: 'The cap is',
  value: 'total',
  options: [
    ['total', 'for all time'],
    ['daily', 'a day'],
    ['monthly', 'a month'],
  ],
})}
<button class="main">Create key</button>`,
  );
}

/** The end of the day that was chosen; what is no day is left to the capability to refuse. */
function endOf(form: URLSearchParams): string | undefined {
  const day = textOf(form, 'expires_at');
  return day === undefined ? undefined : `${day}T23:59:59Z`;
}

/** The one page that ever shows the secret. */
export function secretPage(
  { name, id, key_secret: secret }: Key & { readonly key_secret: string },
  visit: Visit,
): View {
  const content = html`<h1>The secret of ${short(name ?? id, 60)}</h1>
<p>Copy it now: it is shown this once, and nobody can look it up.</p>
${copiedSecret(secret)}
<p><a href="${visit.path('/keys')}">All keys</a></p>`;
  return { title: 'A secret', content };
}
