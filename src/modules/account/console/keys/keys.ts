// The keys of the account: access in words, last use and spend of each. A new secret is shown once.

import { copiedSecret } from '../../../../kit/console/copied.ts';
import { panel } from '../../../../kit/console/failure.ts';
import { field, numberOf, textOf } from '../../../../kit/console/form.ts';
import { asksForNew, type NewForm, newAction, newView, titleWithNew } from '../../../../kit/console/new.ts';
import { actOf, type ConsolePage, type View } from '../../../../kit/console/page.ts';
import { lastDays } from '../../../../kit/console/period.ts';
import { scopesField, scopesOf } from '../../../../kit/console/scope-picker.ts';
import { more, type Page, table, tabs, withQuery } from '../../../../kit/console/table.ts';
import { ago, short } from '../../../../kit/console/text.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { keysCreate } from '../../capabilities/keys/create.ts';
import { keysList } from '../../capabilities/keys/list.ts';
import { usage as accountUsage } from '../../capabilities/usage.ts';
import { capFields, capText, DAYS, type Key, scopesInWords, statusOf } from './key.ts';

const ROWS = 50;
const CREATE = 'create';
const newKey: NewForm = { act: CREATE, heading: 'New key', capability: keysCreate, form: createForm };
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
  answerView: secretPage,
});

/** Of a key in the table; its own page tells them all. */
const SCOPES_MAX = 4;

export const keysPage: ConsolePage = {
  name: 'keys',
  path: '/keys',
  needs: keysList,
  nav: { label: 'Keys', key: 'k', group: 'start' },
  show,
  acts: { [CREATE]: create },
  actions: [newAction('/keys', newKey)],
};

async function show(visit: Visit): Promise<View> {
  if (asksForNew(visit, newKey)) return newView(visit, newKey);
  const asked = visit.query.get('status');
  const status = statuses.find((each) => each === asked);
  const [list, usage] = await Promise.all([
    visit.call(keysList, { status, cursor: visit.query.get('cursor') ?? undefined, limit: ROWS }),
    visit.call(accountUsage, lastDays(visit, DAYS)),
  ]);
  const spent = new Map((usage.data?.by_key ?? []).map(({ key_id, spend_usd }) => [key_id, spend_usd]));
  const content = html`${titleWithNew(visit, 'Keys', newKey)}
<p>Give each program its own key with the access it needs. You can then stop one program without stopping the others.</p>
${statusTabs(visit, status)}
${panel(visit, status === undefined ? 'All keys' : `${capitalise(status)} keys`, list, (page) => html`${keyTable(visit, page, spent)}${more(visit, page)}`)}`;
  return { title: 'Keys', content };
}

function statusTabs(visit: Visit, here: string | undefined): Html {
  const each = (text: string, status: string | null) => ({
    text,
    href: withQuery(visit, { status, cursor: null }),
    isHere: status === (here ?? null),
  });
  return tabs('Status', [each('All', null), ...statuses.map((status) => each(capitalise(status), status))]);
}

function capitalise(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

function keyTable(visit: Visit, { items }: Page<Key>, spent: ReadonlyMap<string, number>): Html {
  return table({
    caption: 'Keys',
    rows: items,
    empty: html`<p>No keys.</p>`,
    columns: [
      {
        title: 'Name',
        cell: ({ key_id: id, name }) =>
          html`<a href="${visit.path(`/keys/${id}`)}">${name === null ? html`<code>${id}</code>` : short(name, 60)}</a>`,
      },
      { title: 'Access', cell: ({ scopes }) => scopesInWords(scopes, SCOPES_MAX) },
      { title: 'Status', cell: statusOf },
      { title: 'Secret', cell: ({ prefix, last4 }) => html`<code class="prefix">${prefix}…${last4}</code>` },
      { title: 'Last used', cell: ({ last_used_at }) => ago(visit, last_used_at) },
      { title: 'Spend cap', kind: 'number', cell: (key) => capText(key) ?? html`<span class="quiet">none</span>` },
      { title: `Spent in ${DAYS} days`, usd: ({ key_id: id }) => spent.get(id) ?? 0 },
    ],
  });
}

function createForm(visit: Visit): Html {
  return html`${field(visit, CREATE, { name: 'name', label: 'Name', hint: 'The program that will use it.', attributes: html`maxlength="200"` })}
${scopesField(visit, CREATE, null)}
${capFields(visit, CREATE, '', 'total')}
${field(visit, CREATE, { name: 'expires_at', label: 'Expires', hint: 'At the end of that day (UTC). Empty: never.', attributes: html`type="date"` })}
<button class="main">Create key</button>`;
}

/** The end of the day that was chosen; what is no day is left to the capability to refuse. */
function endOf(form: URLSearchParams): string | undefined {
  const day = textOf(form, 'expires_at');
  return day === undefined ? undefined : `${day}T23:59:59Z`;
}

/** The one page that ever shows the secret. */
export function secretPage(
  { name, key_id: id, key_secret: secret }: Key & { readonly key_secret: string },
  visit: Visit,
): View {
  const content = html`<h1>Secret of ${short(name ?? id, 60)}</h1>
<p>Copy it now. It is shown only once.</p>
${copiedSecret(secret)}
<p><a href="${visit.path('/keys')}">All keys</a></p>`;
  return { title: 'Secret of a key', content };
}
