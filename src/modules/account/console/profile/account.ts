// Account page: name, email address, plan with usage of its limits, vendor routing, export of its data as a file, and deletion.

import { copiedId } from '../../../../kit/console/copied.ts';
import { dangerLink, dangerZone } from '../../../../kit/console/danger-zone.ts';
import { panel } from '../../../../kit/console/failure.ts';
import { actForm, checkbox, field, textOf } from '../../../../kit/console/form.ts';
import { actOf, type ConsolePage, type View } from '../../../../kit/console/page.ts';
import { badge, facts, type Page, table } from '../../../../kit/console/table.ts';
import { count, countOf, money, short, time } from '../../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../../kit/console/typed.ts';
import type { DataOf, PersonSections, Visit } from '../../../../kit/console/visit.ts';
import { inZone } from '../../../../kit/console/zone.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { balance as accountBalance } from '../../capabilities/balance.ts';
import { emailBind } from '../../capabilities/email/bind.ts';
import { emailVerify } from '../../capabilities/email/verify.ts';
import { remove } from '../../capabilities/profile/delete.ts';
import { exportAccount } from '../../capabilities/profile/export.ts';
import { get } from '../../capabilities/profile/get.ts';
import { update } from '../../capabilities/profile/update.ts';
import { routingGet } from '../../capabilities/routing/get.ts';
import { subscriptionGet } from '../../capabilities/subscription/get.ts';
import { accountTier, plan, planActs } from './plan.ts';
import { routing, routingActs } from './routing.ts';

type Account = DataOf<typeof get>;

/** Calls that a file may make, and records a call. */
const FILE_PAGES_MAX = 25;
const FILE_RECORDS = 100;

export const accountPage: ConsolePage = {
  name: 'account',
  path: '/account',
  needs: get,
  nav: { label: 'Account', key: 'c', group: 'settings' },
  isLive: true,
  show,
  jsonl: exportText,
  acts: {
    rename: {
      capability: update,
      input: (form) => ({
        name: textOf(form, 'name') ?? null,
        notifications: { email: form.get('notifications') === 'on' },
      }),
      done: 'Saved.',
    },
    bind: {
      capability: emailBind,
      input: (form) => ({ email: textOf(form, 'email') }),
      done: 'We sent you a code. Enter it here, or open the link.',
    },
    verify: {
      capability: emailVerify,
      input: (form) => ({ code: textOf(form, 'code') }),
      done: 'Email address confirmed.',
    },
    ...planActs,
    ...routingActs,
  },
};

export const accountDeletePage: ConsolePage = {
  name: 'account_delete',
  path: '/account/delete',
  needs: get,
  show: showDelete,
  acts: {
    delete: actOf({
      capability: remove,
      input(form, { principal: { accountId } }) {
        requireTyped(form, accountId, 'delete the account');
        return { confirm: accountId, forfeit_balance: form.has('forfeit_balance') };
      },
      done: 'Account deleted.',
      answerView: (data, visit) => ({
        title: 'Account deleted',
        content: html`<h1>Account deleted</h1>
<p>An owner can restore it until ${time(visit, data.purge_at)} at <a href="${visit.elsewhere('/auth/account')}">your account</a>. Then it is removed for good.</p>`,
      }),
    }),
  },
};

async function show(visit: Visit): Promise<View> {
  const [account, tier, subscription, chains, sections] = await Promise.all([
    visit.need(get),
    visit.call(accountTier),
    visit.call(subscriptionGet),
    visit.call(routingGet),
    visit.personSections('/account', (instant) => inZone(instant, visit.preferences.zone)),
  ]);
  const content = html`<h1>Account</h1>
${account.suspended ? html`<p class="failure" role="alert">The account is suspended, and its calls are refused. Ask the operator of this service.</p>` : ''}
<div class="panels"><section class="panel"><h2>Profile</h2>${itself(visit, account)}</section>
<section class="panel"><h2>Email address</h2>${address(visit, account)}</section></div>
${panel(visit, 'Plan', tier, (data) => plan(visit, data, subscription, account.email_bound))}
${sections.people.text === '' ? html`<section class="panel"><h2>People</h2>${people(account)}</section>` : signIns(sections)}
${panel(visit, 'Routing', chains, ({ capabilities }) => routing(visit, capabilities))}
<section class="panel"><h2>Export</h2><p><a href="${visit.path('/account?as=jsonl')}">Export as JSON lines</a> <span class="quiet">Up to ${count(FILE_PAGES_MAX * FILE_RECORDS)} records. If there are more, the last line has the cursor of the next call.</span></p></section>
${dangerZone([
  {
    title: 'Delete this account',
    text: 'Its keys stop working at once. An owner can restore it for seven days.',
    act: dangerLink(visit.path('/account/delete'), 'Delete account…'),
  },
])}`;
  return { title: 'Account', content };
}

function itself(visit: Visit, account: Account): Html {
  const told = facts([
    ['ID', copiedId(account.account_id)],
    ['Created', time(visit, account.created_at)],
    ['Verification', account.kyc_status],
  ]);
  if (!visit.may(update)) return told;
  return html`${told}${actForm(
    visit,
    'rename',
    html`${field(visit, 'rename', { name: 'name', label: 'Name', value: account.name ?? '' })}
${checkbox(visit, 'rename', { name: 'notifications', label: 'Email me about important events', isChecked: account.notifications.email })}<button>Save</button>`,
  )}`;
}

function address(visit: Visit, { email, email_bound: isBound }: Account): Html {
  const now =
    email === null
      ? html`<p>No email address. You need one to pay.</p>`
      : html`<p>${short(email, 100)} ${isBound ? badge('confirmed', 'good') : badge('not confirmed', 'warning')}</p>`;
  if (!visit.may(emailBind)) return now;
  const code = html`inputmode="numeric" autocomplete="one-time-code" size="8" maxlength="6"`;
  return html`${now}${actForm(visit, 'bind', html`${field(visit, 'bind', { name: 'email', label: isBound ? 'New address' : 'Email address', attributes: html`type="email" autocomplete="email"`, isRequired: true })}<button>Send code</button>`)}
${actForm(visit, 'verify', html`${field(visit, 'verify', { name: 'code', label: 'Code from the email', attributes: code, isRequired: true })}<button>Confirm address</button>`)}`;
}

/** Of a person: the same as stands at /auth/account. */
function signIns({ switcher, people: all, identities, devices }: PersonSections): Html {
  return html`<div class="panels"><section class="panel">${all}</section>
<section class="panel">${switcher}${identities}${devices}</section></div>`;
}

/** Shown to a key, which may change nothing of it. */
function people({ people: all }: Account): Html {
  return table({
    caption: 'People',
    rows: all,
    empty: html`<p>No people yet. Confirm an email address, and its owner can sign in.</p>`,
    columns: [
      { title: 'Person', cell: ({ name, email, person_id: id }) => short(email ?? name ?? id, 100) },
      { title: 'Name', cell: ({ name }) => short(name ?? '', 100) },
      { title: 'Role', cell: ({ role }) => role },
    ],
  });
}

async function showDelete(visit: Visit): Promise<View> {
  const [{ account_id: id, name }, balance, { usage }] = await Promise.all([
    visit.need(get),
    visit.need(accountBalance),
    visit.need(accountTier),
  ]);
  const things = Object.entries(usage)
    .filter(([, used]) => used > 0)
    .map(([of, used]) => html`<li>${countOf(used, ...bothNumbers(of.replaceAll('_', ' ')))}</li>`);
  const content = html`<p><a href="${visit.path('/account')}">Back</a></p>
<h1>Delete the account</h1>
<p>Everything in ${short(name ?? id, 100)} stops at once, for all keys and people:</p>
<ul>${things}<li>${money(balance.balance_usd)} of credit, ${money(balance.paid_usd)} of it paid</li></ul>
<p>An owner can restore it for seven days. Then it is removed for good.</p>
${typedForm(visit, 'delete', {
  wanted: id,
  button: 'Delete account',
  after: checkbox(visit, 'delete', { name: 'forfeit_balance', label: 'Give up the remaining paid credit' }),
})}`;
  return { title: 'Delete the account', content };
}

/** One and several: `dns zone` and `dns zones`. */
function bothNumbers(several: string): [string, string] {
  if (several.endsWith('ies')) return [several.replace(/ies$/, 'y'), several];
  return [several === 'series' ? several : several.replace(/s$/, ''), several];
}

/** One record a line. Where there are more, the last line is no record: it has the cursor of the next. */
async function exportText(visit: Visit): Promise<string> {
  const lines: string[] = [];
  let cursor: string | null | undefined = visit.query.get('cursor') ?? undefined;
  for (let page = 0; page < FILE_PAGES_MAX && cursor !== null; page += 1) {
    const found: Page<unknown> = await visit.need(exportAccount, { cursor, limit: FILE_RECORDS });
    lines.push(...found.items.map((record) => JSON.stringify(record)));
    cursor = found.next_cursor;
  }
  if (typeof cursor === 'string') lines.push(JSON.stringify({ next_cursor: cursor, call: 'account.export' }));
  return lines.map((line) => `${line}\n`).join('');
}
