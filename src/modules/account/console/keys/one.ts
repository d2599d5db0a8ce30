// Page of one key: calls and spend, and its changes: access, cap, a new secret, a suspected leak. ends.ts has the pages that end it at once.

import { copiedId } from '../../../../kit/console/copied.ts';
import { dangerLink, dangerZone } from '../../../../kit/console/danger-zone.ts';
import { contentOrFailure, panel } from '../../../../kit/console/failure.ts';
import { actForm, checkbox, field, numberOf, textOf } from '../../../../kit/console/form.ts';
import { type Act, actOf, type ConsolePage, type View } from '../../../../kit/console/page.ts';
import { lastDays } from '../../../../kit/console/period.ts';
import { scopesField, scopesOf } from '../../../../kit/console/scope-picker.ts';
import { facts, figures, table } from '../../../../kit/console/table.ts';
import { ago, count, money, plainNumber, short, time } from '../../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { keysList } from '../../capabilities/keys/list.ts';
import { keysRotate } from '../../capabilities/keys/rotate.ts';
import { keysSuspectedCompromise } from '../../capabilities/keys/suspected-compromise.ts';
import { keysUpdate } from '../../capabilities/keys/update.ts';
import { requestsList } from '../../capabilities/requests/list.ts';
import { usage as accountUsage } from '../../capabilities/usage.ts';
import { type Logged, requestTable } from '../requests/requests.ts';
import { type CallerNames, readCallers } from '../usage/caller.ts';
import { leakReported } from './ends.ts';
import { capFields, capText, DAYS, findKey, type Key, type Spent, scopesInWords, statusOf } from './key.ts';
import { secretPage } from './keys.ts';

const AT_ONCE = 'To end a secret at once, report a leak below.';
const CALLS = 10;

type Usage = DataOf<typeof accountUsage>;

const narrow: Act = {
  capability: keysUpdate,
  input: (form, visit) => ({
    key_id: visit.params.id,
    name: textOf(form, 'name') ?? null,
    scopes: scopesOf(form, visit),
    spend_cap_usd: numberOf(form, 'spend_cap_usd') ?? null,
    spend_cap_period: form.get('spend_cap_usd')?.trim() ? textOf(form, 'spend_cap_period') : undefined,
  }),
  done: 'Key saved.',
};

const rotate = actOf({
  capability: keysRotate,
  input(form, { params }) {
    const hours = numberOf(form, 'grace_hours');
    // That would end it at once: such acts have pages of their own.
    if (hours === 0) throw invalidField('grace_hours', 'minimum', `At least 1. ${AT_ONCE}`);
    return { key_id: params.id, grace_hours: hours };
  },
  done: 'Secret rotated.',
  answerView: secretPage,
});

/** Of what is not certain: the key lives on. */
const leak: Act = {
  capability: keysSuspectedCompromise,
  input: (form, { params }) => ({ key_id: params.id, confirmed_leak: false, auto_rotate: form.has('auto_rotate') }),
  done: 'Leak reported.',
  answerView: leakReported,
};

export const keyPage: ConsolePage = {
  name: 'key',
  path: '/keys/{id}',
  needs: keysList,
  show,
  acts: { narrow, rotate, leak },
};

async function show(visit: Visit): Promise<View> {
  const key = await findKey(visit);
  const { key_id: id, name, status } = key;
  const [spent, calls, callers] = await Promise.all([
    visit.call(accountUsage, { ...lastDays(visit, DAYS), key_id: id }),
    visit.may(requestsList) ? visit.call(requestsList, { key_id: id, outcome: 'all', limit: CALLS }) : null,
    readCallers(visit),
  ]);
  const isLive = status === 'active' || status === 'rotating';
  const content = html`<p><a href="${visit.path('/keys')}">All keys</a></p>
<h1>${short(name ?? id, 100)}</h1>
${contentOrFailure(visit, spent, spendOf)}
${keyFacts(visit, key)}
${panel(visit, 'Usage by capability', spent, ({ by_capability: of }) => usageOf(visit, id, of))}
${calls === null ? '' : panel(visit, 'Last calls', calls, ({ items }) => lastCalls(visit, id, items, callers.names))}
${isLive ? changes(visit, key) : html`<p class="quiet">This key has ended and cannot be changed.</p>`}`;
  return { title: name ?? id, content };
}

function spendOf({ spend_usd: usd, request_count: calls, error_count: failed }: Spent): Html {
  return figures([
    [`Spent in ${DAYS} days`, money(usd)],
    ['Calls', count(calls)],
    ['Failed', count(failed)],
  ]);
}

function keyFacts(visit: Visit, key: Key): Html {
  const { key_id: id, scopes, prefix, last4, spend_used_usd: used } = key;
  const cap = capText(key);
  return facts([
    ['ID', copiedId(id)],
    ['Status', statusOf(key)],
    ['Access', scopesInWords(scopes)],
    ['Secret', html`<code>${prefix}…${last4}</code>`],
    ['Created', time(visit, key.created_at)],
    ['Last used', ago(visit, key.last_used_at)],
    ['Expires', time(visit, key.expires_at)],
    ['Old secret ends', key.rotating_until === null ? null : time(visit, key.rotating_until)],
    ['Revoked', key.revoked_at === null ? null : time(visit, key.revoked_at)],
    ['Spend cap', cap === null ? null : html`${cap}, ${money(used ?? 0)} used`],
  ]);
}

function usageOf(visit: Visit, id: string, of: Usage['by_capability']): Html {
  const rows = table({
    caption: 'Usage by capability',
    rows: of.slice(0, CALLS),
    empty: html`<p>This key was not used.</p>`,
    sorted: visit,
    columns: [
      { title: 'Capability', cell: ({ capability }) => capability, sortBy: ({ capability }) => capability },
      { title: 'Calls', kind: 'number', cell: (row) => count(row.count), sortBy: (row) => row.count },
      { title: 'Failed', kind: 'number', cell: (row) => count(row.error_count), sortBy: (row) => row.error_count },
      { title: 'Spend', usd: ({ spend_usd }) => spend_usd },
    ],
  });
  return html`${rows}<p class="small"><a href="${visit.path(`/usage?period=30d&key_id=${id}`)}">All usage of this key</a></p>`;
}

/** What the request log has of it. */
function lastCalls(visit: Visit, id: string, items: readonly Logged[], names: CallerNames): Html {
  return html`${requestTable(visit, items, { names, isAudit: false, empty: html`<p>No calls yet.</p>` })}
<p class="small"><a href="${visit.path(`/requests?outcome=all&key_id=${id}`)}">All calls of this key</a> <span class="quiet">Of a busy second the log keeps a sample.</span></p>`;
}

function changes(visit: Visit, key: Key): Html {
  if (!visit.may(keysUpdate)) return html``;
  const { key_id: id, name, scopes, spend_cap_usd: cap, spend_cap_period: of } = key;
  return html`<section class="panel"><h2>Settings</h2>${actForm(
    visit,
    'narrow',
    html`${field(visit, 'narrow', { name: 'name', label: 'Name', value: name ?? '' })}
${scopesField(visit, 'narrow', scopes)}
${capFields(visit, 'narrow', cap === null ? '' : plainNumber(cap), of ?? 'total')}
<button class="main">Save key</button>`,
  )}</section>
<div class="panels"><section class="panel"><h2>Rotate the secret</h2>${actForm(
    visit,
    'rotate',
    html`${field(visit, 'rotate', { name: 'grace_hours', label: 'Hours until the old secret ends', value: '24', hint: AT_ONCE, attributes: html`inputmode="numeric"` })}<button>Rotate secret</button>`,
  )}</section>
<section class="panel"><h2>Report a suspected leak</h2>${actForm(
    visit,
    'leak',
    html`${checkbox(visit, 'leak', { name: 'auto_rotate', label: 'Rotate the secret; the old one works for one more hour', isChecked: true })}<button>Report suspected leak</button>`,
  )}</section></div>
${dangerZone([
  {
    title: 'The secret has leaked',
    text: 'The key ends at once. A new key with the same access can take its place.',
    act: dangerLink(visit.path(`/keys/${id}/leaked`), 'Report leak…'),
  },
  {
    title: 'Revoke this key',
    text: 'Its next call is refused. This cannot be undone.',
    act: dangerLink(visit.path(`/keys/${id}/revoke`), 'Revoke key…'),
  },
])}`;
}
