// One account as the operator sees it: its money and people, its tier, its verification, credit, suspension, and what it paid.

import { copiedId } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actForm, choice, field, numberOf, textOf } from '../../../kit/console/form.ts';
import { invitationForm } from '../../../kit/console/invitation-form.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { facts, figures, more, type Page, table } from '../../../kit/console/table.ts';
import { money, short, time } from '../../../kit/console/text.ts';
import type { Callable, DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { accountsGet } from '../capabilities/accounts-get.ts';
import { accountsUpdate } from '../capabilities/accounts-update.ts';
import { creditGrant } from '../capabilities/credit-grant.ts';
import { kycSet } from '../capabilities/kyc-set.ts';
import { topupRefund } from '../capabilities/topup-refund.ts';
import { topupsList } from '../capabilities/topups-list.ts';
import { standing } from './operator.ts';
import { type Topup, topupState } from './topups.ts';

const DAY_SECONDS = 86_400;

type Detail = DataOf<typeof accountsGet>;

const ROWS = 20;

/** An act on the account of the page. */
const act = (
  capability: Callable,
  done: string,
  input: (form: URLSearchParams) => Readonly<Record<string, unknown>>,
): Act => ({ capability, done, input: (form, { params }) => ({ account_id: params.id, ...input(form) }) });

export const operatorAccountPage: ConsolePage = {
  name: 'operator_account',
  path: '/operator/accounts/{id}',
  needs: accountsGet,
  show,
  acts: {
    grant: act(creditGrant, 'Credit granted.', (form) => ({
      amount_usd: numberOf(form, 'amount_usd'),
      kind: form.get('kind') ?? undefined,
      expires_seconds: secondsOfDays(numberOf(form, 'expires_days')),
      note: textOf(form, 'note'),
    })),
    contact: act(accountsUpdate, 'Saved.', (form) => ({
      name: textOf(form, 'name') ?? null,
      email: textOf(form, 'email'),
    })),
    tier: act(accountsUpdate, 'Tier saved.', (form) => ({ tier: form.get('tier') })),
    suspend: act(accountsUpdate, 'Account suspended. Its next call is refused.', () => ({ suspended: true })),
    restore: act(accountsUpdate, 'Suspension ended.', () => ({ suspended: false })),
    kyc: act(kycSet, 'Verification saved.', (form) => ({ kyc_status: form.get('kyc_status') })),
  },
};

async function show(visit: Visit): Promise<View> {
  const { id: account_id = '' } = visit.params;
  const account = await visit.need(accountsGet, { account_id });
  const cursor = visit.query.get('cursor') ?? undefined;
  const topups = await visit.call(topupsList, { account_id, cursor, limit: ROWS });
  const content = html`<p><a href="${visit.path('/operator')}">All accounts</a></p>
<h1>${short(account.name ?? account_id, 100)}</h1>
${figures([
  ['Balance', money(account.balance.balance_usd)],
  ['Held', money(account.balance.held_usd)],
  ['Debt', money(account.balance.debt_usd)],
])}
${account.balance.frozen_reason === null ? '' : html`<p class="failure">The wallet is frozen: ${account.balance.frozen_reason}.</p>`}
<div class="panels"><section class="panel"><h2>Account</h2>${accountFacts(visit, account)}${people(account)}${invitation(visit, account)}</section>
${visit.may(accountsUpdate) ? html`<section class="panel"><h2>Change</h2>${changes(visit, account)}</section>` : ''}</div>
${panel(visit, 'Top-ups', topups, (page) => html`${topupTable(visit, page)}${more(visit, page)}`)}`;
  return { title: account.name ?? account_id, content };
}

function accountFacts(visit: Visit, account: Detail): Html {
  return facts([
    ['ID', copiedId(account.account_id)],
    ['Status', standing(account)],
    ['Deleted for good', account.purge_at === null ? null : time(visit, account.purge_at)],
    ['Tier', account.tier],
    ['Email', account.email === null ? html`<span class="quiet">none</span>` : short(account.email, 100)],
    ['Verification', account.kyc_status],
    ['Created', time(visit, account.created_at)],
  ]);
}

function people({ people: all }: Detail): Html {
  return table({
    caption: 'People',
    rows: all,
    empty: html`<p>No people yet.</p>`,
    columns: [
      { title: 'Person', cell: ({ name, email, person_id: id }) => short(email ?? name ?? id, 80) },
      { title: 'Role', cell: ({ role }) => role },
    ],
  });
}

/** In the operator's session, which is no key's. */
function invitation(visit: Visit, { account_id: accountId }: Detail): Html {
  if (!visit.principal.id.startsWith('sess_')) return html``;
  return invitationForm({
    formToken: visit.formToken,
    action: visit.elsewhere('/auth/account/invite'),
    accountId,
    address: html`<label for="invite-email">Email address</label><input id="invite-email" name="email" type="email" maxlength="254" required>`,
  });
}

function changes(visit: Visit, account: Detail): Html {
  const { tier, kyc_status: kyc, suspended } = account;
  const same = (words: readonly string[]) => words.map((word) => [word, word] as const);
  const tiers = choice(visit, 'tier', {
    name: 'tier',
    label: 'Tier',
    value: tier,
    options: same(['standard', 'pro', 'enterprise']),
  });
  const states = same(['none', 'required', 'pending', 'verified', 'rejected']);
  const verification = choice(visit, 'kyc', { name: 'kyc_status', label: 'Verification', value: kyc, options: states });
  return html`${grantForm(visit)}
${contactForm(visit, account)}
<div class="pair">${actForm(visit, 'tier', html`${tiers}<button>Save tier</button>`)}
${actForm(visit, 'kyc', html`${verification}<button>Save</button>`)}</div>
${suspended ? actForm(visit, 'restore', html`<button>End the suspension</button>`) : actForm(visit, 'suspend', html`<button class="danger">Suspend</button> <span class="quiet">All its calls are refused until you end the suspension.</span>`)}`;
}

function contactForm(visit: Visit, { name, email }: Detail): Html {
  return actForm(
    visit,
    'contact',
    html`<div class="pair">${field(visit, 'contact', { name: 'name', label: 'Name', value: name ?? '', attributes: html`maxlength="128"` })}
${field(visit, 'contact', { name: 'email', label: email === null ? 'Email' : 'New email', hint: 'Empty: no change. The address counts as verified. Whoever signs in with it owns the account if it has no owner.', attributes: html`type="email"` })}</div>
<button>Save name and email</button>`,
  );
}

function grantForm(visit: Visit): Html {
  const attributes = html`inputmode="decimal"`;
  return actForm(
    visit,
    'grant',
    html`<div class="pair">${field(visit, 'grant', { name: 'amount_usd', label: 'Credit, USD', attributes, isRequired: true })}
${choice(visit, 'grant', {
  name: 'kind',
  label: 'Type',
  value: 'promo',
  options: [
    ['promo', 'Promotional'],
    ['paid', 'Paid elsewhere'],
  ],
})}
${field(visit, 'grant', { name: 'expires_days', label: 'Expires after, days', hint: 'Empty: never.', attributes })}
${field(visit, 'grant', { name: 'note', label: 'Note' })}</div>
<button class="main">Grant credit</button>`,
  );
}

/** What is no number stays as it was typed, for the call to refuse. */
function secondsOfDays(days: number | string | undefined): number | string | undefined {
  return typeof days === 'number' ? Math.round(days * DAY_SECONDS) : days;
}

function topupTable(visit: Visit, { items }: Page<Topup>): Html {
  const refund = ({ account_id: account, topup_id: id, status, amount_usd: amount, refunded_usd: back }: Topup) =>
    status === 'succeeded' && back < amount && visit.may(topupRefund)
      ? html`<a href="${visit.path(`/operator/accounts/${account}/refund/${id}`)}">Refund…</a>`
      : '';
  return table({
    caption: 'Top-ups of the account',
    rows: items,
    empty: html`<p>No top-ups.</p>`,
    columns: [
      { title: 'ID', cell: ({ topup_id }) => html`<code>${topup_id}</code>` },
      { title: 'Started', cell: ({ created_at }) => time(visit, created_at) },
      { title: 'Status', cell: topupState },
      { title: 'Amount', usd: ({ amount_usd }) => amount_usd },
      { title: 'Refunded', usd: ({ refunded_usd }) => refunded_usd },
      { title: 'Action', cell: refund },
    ],
  });
}
