// Pages of a device that asks for a key: the field for its code, then the request and the choice of how much to grant.

import type { CapPeriod } from '../../../core/callers/key-cap.ts';
import type { Principal } from '../../../core/callers/principal.ts';
import { tokenField } from '../../../kit/console/form.ts';
import { pickedScopes, scopePicker } from '../../../kit/console/scope-picker.ts';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import { type Html, html } from '../../../lib/html.ts';
import { NANOS_PER_USD } from '../../../lib/money.ts';
import { DAY_MS, iso } from '../../../lib/time.ts';
import type { Fault, Wish } from '../../../people/devices/approve.ts';
import type { Offer } from '../../../people/devices/offer.ts';
import type { DeviceRow } from '../../../people/devices/store.ts';
import { framePage } from '../frame.ts';
import type { Visitor } from '../visitor.ts';
import type { OauthClient } from './client-metadata.ts';

/** What every page of this visit carries. */
export interface DeviceFrame {
  readonly signOut: Html;
  readonly headers?: RawAnswer['headers'];
}

/** Somebody who may approve devices. */
export interface Approver extends Visitor {
  readonly principal: Principal;
}

/** The fields of the form as they were sent. */
export interface Wished {
  readonly scopes: readonly string[];
  /** Days; empty: for good. */
  readonly lifetime: string;
  readonly cap: string;
  readonly period: CapPeriod;
}

interface Confirmation {
  readonly device: DeviceRow;
  readonly code: string;
  /** What the visitor could give of what is asked for. */
  readonly offer: Offer;
  readonly wished: Wished;
  readonly fault: Fault | null;
}

const lifetimes: readonly (readonly [string, string])[] = [
  ['', 'never'],
  ['1', 'in a day'],
  ['7', 'in a week'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
];
const periods: Readonly<Record<CapPeriod, string>> = {
  total: 'in total',
  daily: 'per day (UTC)',
  monthly: 'per month (UTC)',
};
const capPeriods = Object.keys(periods) as CapPeriod[];
const AMOUNT = /^(\d{1,9})(?:\.(\d{1,9}))?$/;

export function codePage(
  visitor: Visitor,
  frame: DeviceFrame,
  { typed, fault, status = 200 }: { readonly typed: string; readonly fault?: string; readonly status?: number },
): RawAnswer {
  const content = html`<h1>Connect a device</h1>
<p>Enter the code of eight letters that the program shows. Continue only if you started the program yourself.</p>
${fault === undefined ? '' : html`<p class="failure" role="alert" id="user_code-fault">${fault}</p>`}
<form method="post">${tokenField(visitor)}
<label for="user_code">Code</label>
<input id="user_code" name="user_code" value="${typed.slice(0, 40)}" required maxlength="40" autocomplete="off" spellcheck="false" autocapitalize="characters"${fault === undefined ? '' : html` aria-invalid="true" aria-describedby="user_code-fault"`}>
<button class="main wide">Continue</button>
</form>`;
  return framePage({ status, title: 'Connect a device', content, isNarrow: true, ...frame });
}

export function confirmPage(visitor: Visitor, frame: DeviceFrame, confirmation: Confirmation): RawAnswer {
  const { device, code, fault, offer } = confirmation;
  const content = html`<h1>Authorize this device?</h1>
<dl class="facts">
<dt>Name</dt><dd>${device.client_name} <span class="quiet">Chosen by the program, not verified</span></dd>
<dt>Code</dt><dd><strong>${code}</strong></dd>
<dt>IP address</dt><dd>${device.remote_address}</dd>
<dt>Requested</dt><dd><time datetime="${iso(device.created_at)}">${iso(device.created_at).slice(0, 19).replace('T', ' ')} UTC</time></dd>
<dt>Account</dt><dd>${visitor.session.accountId}</dd>
</dl>
${fault === null ? '' : html`<p class="failure" role="alert" id="${fault.field ?? 'device'}-fault">${fault.text}</p>`}
<form method="post">${tokenField(visitor)}<input type="hidden" name="user_code" value="${code}">
${isNothing(offer) ? html`<p class="failure">You cannot give any of the access that it asks for. You can only deny it.</p>` : fieldsOf(confirmation)}
<button name="action" value="deny">Deny</button>
</form>`;
  return framePage({
    status: fault === null ? 200 : 400,
    title: 'Authorize this device?',
    content,
    isNarrow: true,
    ...frame,
  });
}

interface ClientAsks extends Pick<Confirmation, 'offer' | 'wished' | 'fault'> {
  readonly client: OauthClient;
  /** Where the person is sent back to. */
  readonly redirectHost: string;
}

/** A program that sent the person here asks for a key. */
export function clientPage(visitor: Visitor, frame: DeviceFrame, asks: ClientAsks): RawAnswer {
  const { client, redirectHost, offer, fault } = asks;
  const content = html`<h1>Authorize this program?</h1>
<dl class="facts">
<dt>Name</dt><dd>${client.name} <span class="quiet">Chosen by the program, not verified</span></dd>
<dt>Publisher</dt><dd>${client.host ?? 'Not known: the program registered itself'}</dd>
<dt>Returns to</dt><dd>${redirectHost}</dd>
<dt>Account</dt><dd>${visitor.session.accountId}</dd>
</dl>
${fault === null ? '' : html`<p class="failure" role="alert" id="${fault.field ?? 'device'}-fault">${fault.text}</p>`}
<form method="post">${tokenField(visitor)}
${isNothing(offer) ? html`<p class="failure">You cannot give any of the access that it asks for. You can only deny it.</p>` : fieldsOf(asks)}
<button name="action" value="deny">Deny</button>
</form>`;
  const status = fault === null ? 200 : 400;
  return framePage({ status, title: 'Authorize this program?', content, isNarrow: true, ...frame });
}

function isNothing({ modules, operations }: Offer): boolean {
  return modules.length + operations.length === 0;
}

function fieldsOf({ offer, wished, fault }: Pick<Confirmation, 'offer' | 'wished' | 'fault'>): Html {
  const faultAttributes = (field: NonNullable<Fault['field']>) =>
    fault?.field === field ? html` aria-invalid="true" aria-describedby="${field}-fault"` : html``;
  const operation = (id: string) =>
    html`<label class="choice"><input type="checkbox" name="scope" value="${id}"${wished.scopes.includes(id) ? html` checked` : ''}>${id} only</label>
`;
  return html`<fieldset${fault?.field === 'scopes' ? html` aria-describedby="scopes-fault"` : ''}>
<legend>Access</legend>
${offer.modules.length < 2 ? '' : html`<p class="quiet">Set all to <button name="action" value="read">Read</button> <button name="action" value="write">Read and write</button></p>`}
${scopePicker('scope', offer.modules, wished.scopes)}${offer.operations.map(operation)}</fieldset>
<label for="lifetime">Key expires</label>
<select id="lifetime" name="lifetime"${faultAttributes('lifetime')}>
${lifetimes.map(([days, text]) => html`<option value="${days}"${days === wished.lifetime ? html` selected` : ''}>${text}</option>`)}
</select>
<label for="cap">Spend cap, USD <span class="quiet">Empty: no cap</span></label>
<input id="cap" name="cap" value="${wished.cap.slice(0, 40)}" inputmode="decimal" maxlength="40" autocomplete="off"${faultAttributes('cap')}>
<label for="period">Cap period</label>
<select id="period" name="period">
${capPeriods.map((period) => html`<option value="${period}"${period === wished.period ? html` selected` : ''}>${periods[period]}</option>`)}
</select>
<button class="main" name="action" value="approve">Authorize</button>`;
}

/** Before the person has chosen: not more than is asked for, not for ever, and not all the money. */
export function proposedWish(proposal: readonly string[], { hasSpendCap }: Principal): Wished {
  // Whoever has a cap gives keys that spend nothing.
  return { scopes: proposal, lifetime: '90', cap: hasSpendCap ? '0' : '5', period: 'monthly' };
}

/** The same far in all modules, as one button asks for it; null: none did. */
export function fillOf(form: URLSearchParams, { modules, operations }: Offer): readonly string[] | null {
  const level = { read: 0, write: 1 }[form.get('action') ?? ''];
  if (level === undefined) return null;
  return [...modules.map(({ levels }) => levels[Math.min(level, levels.length - 1)] as string), ...operations];
}

/** What the form asks for, as sent and as meant; a fault in place of a wish that cannot be meant. */
export function wishOf(form: URLSearchParams): { readonly wished: Wished; readonly wish: Wish | Fault } {
  const period = capPeriods.find((each) => each === form.get('period')) ?? 'total';
  const [lifetime, cap] = [form.get('lifetime') ?? '', (form.get('cap') ?? '').trim()];
  const wished = { scopes: pickedScopes(form), lifetime, cap, period };
  if (!lifetimes.some(([days]) => days === lifetime))
    return { wished, wish: { field: 'lifetime', text: 'Choose when the key expires.' } };
  const amount = AMOUNT.exec(cap);
  if (cap !== '' && amount === null)
    return { wished, wish: { field: 'cap', text: 'Enter an amount such as 5 or 0.25, or leave it empty.' } };
  const nanos =
    amount === null ? null : BigInt(amount[1] as string) * NANOS_PER_USD + BigInt((amount[2] ?? '').padEnd(9, '0'));
  const lifetimeMs = lifetime === '' ? null : Number(lifetime) * DAY_MS;
  return { wished, wish: { scopes: wished.scopes, lifetimeMs, cap: nanos === null ? null : { nanos, period } } };
}
