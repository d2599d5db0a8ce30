// One key: narrow it, give it a new secret, say that it may have leaked. What ends it at once stands in ends.ts.

import { copiedId } from '../../../../kit/console/copied.ts';
import { shown } from '../../../../kit/console/failure.ts';
import { actForm, checkbox, choice, field, numberOf, textOf } from '../../../../kit/console/form.ts';
import { type Act, actOf, type ConsolePage, type View } from '../../../../kit/console/page.ts';
import { lastDays } from '../../../../kit/console/period.ts';
import { scopesField, scopesOf } from '../../../../kit/console/scope-picker.ts';
import { badge, facts, figures } from '../../../../kit/console/table.ts';
import { ago, count, money, plainNumber, short, time } from '../../../../kit/console/text.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { keysList } from '../../capabilities/keys/list.ts';
import { keysRotate } from '../../capabilities/keys/rotate.ts';
import { keysSuspectedCompromise } from '../../capabilities/keys/suspected-compromise.ts';
import { keysUpdate } from '../../capabilities/keys/update.ts';
import { usage as accountUsage } from '../../capabilities/usage.ts';
import { leakReported } from './ends.ts';
import { DAYS, findKey, type Key, type Spent, scopesInWords } from './key.ts';
import { secretPage } from './keys.ts';

const AT_ONCE = 'A secret that has to end at once is reported as a certain leak.';

const narrow: Act = {
  capability: keysUpdate,
  input: (form, visit) => ({
    id: visit.params.id,
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
    return { id: params.id, grace_hours: hours };
  },
  done: 'The key has a new secret.',
  shown: secretPage,
});

/** Of what is not certain: the key lives on. */
const leak: Act = {
  capability: keysSuspectedCompromise,
  input: (form, { params }) => ({ id: params.id, confirmed_leak: false, auto_rotate: form.has('auto_rotate') }),
  done: 'The leak was reported.',
  shown: leakReported,
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
  const { id, name, status } = key;
  const spent = await visit.call(accountUsage, { ...lastDays(visit, DAYS), key_id: id });
  const isLive = status === 'active' || status === 'rotating';
  const content = html`<p><a href="${visit.path('/keys')}">All keys</a></p>
<h1>${short(name ?? id, 100)}</h1>
${shown(visit, spent, spendOf)}
${keyFacts(visit, key)}
${isLive ? changes(visit, key) : html`<p class="quiet">The key has ended: nothing of it can be changed.</p>`}`;
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
  const { id, status, scopes, prefix, last4, spend_cap_usd: cap, spend_used_usd: used, spend_cap_period: of } = key;
  return facts([
    ['ID', copiedId(id)],
    [
      'State',
      html`${badge(status, status === 'active' ? 'good' : 'warning')}${key.flagged_at === null ? '' : html` ${badge('leak suspected', 'critical')}`}`,
    ],
    ['May', scopesInWords(scopes)],
    ['Secret', html`<code>${prefix}…${last4}</code>`],
    ['Created', time(visit, key.created_at)],
    ['Last used', ago(visit, key.last_used_at)],
    ['Expires', time(visit, key.expires_at)],
    ['Old secret ends', key.rotating_until === null ? null : time(visit, key.rotating_until)],
    ['Revoked', key.revoked_at === null ? null : time(visit, key.revoked_at)],
    ['Cap', cap === null ? null : html`${money(used ?? 0)} of ${money(cap)} ${of === 'total' ? 'in all' : (of ?? '')}`],
    ['Spending', html`<a href="${visit.path(`/usage?key_id=${id}`)}">by this key</a>`],
  ]);
}

function changes(visit: Visit, { id, name, scopes, spend_cap_usd: cap, spend_cap_period: of }: Key): Html {
  if (!visit.may(keysUpdate)) return html``;
  return html`<section class="panel"><h2>Change</h2>${actForm(
    visit,
    'narrow',
    html`${field(visit, 'narrow', { name: 'name', label: 'Name', value: name ?? '' })}
${scopesField(visit, 'narrow', scopes)}
${field(visit, 'narrow', { name: 'spend_cap_usd', label: 'Spend cap, USD', value: cap === null ? '' : plainNumber(cap), attributes: html`inputmode="decimal"` })}
${choice(visit, 'narrow', {
  name: 'spend_cap_period',
  label: 'The cap is',
  value: of ?? 'total',
  options: [
    ['total', 'for all time'],
    ['daily', 'a day'],
    ['monthly', 'a month'],
  ],
})}
<button class="main">Change the key</button>`,
  )}</section>
<div class="panels"><section class="panel"><h2>New secret</h2>${actForm(
    visit,
    'rotate',
    html`${field(visit, 'rotate', { name: 'grace_hours', label: 'The old one lives on for hours', value: '24', hint: AT_ONCE, attributes: html`inputmode="numeric"` })}<button>Rotate</button>`,
  )}</section>
<section class="panel"><h2>Report a leak</h2>${actForm(
    visit,
    'leak',
    html`${checkbox(visit, 'leak', { name: 'auto_rotate', label: 'Make a new secret: the old one lives one more hour', isChecked: true })}<button>Report a suspicion</button>`,
  )}<p><a href="${visit.path(`/keys/${id}/leaked`)}">It is certain: end the key…</a></p></section></div>
<p><a href="${visit.path(`/keys/${id}/revoke`)}">Revoke the key…</a></p>`;
}
