// Mail to those who may approve a call: what is asked, by which key, what it may cost, and what the key did lately. Each has a link of their own.
import { findKey } from '../core/keys/store.ts';
import type { Transaction } from '../db/database.ts';
import { inputText } from '../kit/console/approval.ts';
import { countOf } from '../kit/console/text.ts';
import type { Services } from '../kit/services.ts';
import { firstCharacters } from '../lib/clean-text.ts';
import { html } from '../lib/html.ts';
import { usdText } from '../lib/money.ts';
import { iso } from '../lib/time.ts';
import { sendMail } from '../people/mail/mail.ts';
import { type Member, membersOf } from '../people/persons.ts';
import { linkOf } from './link.ts';
import { ANSWERED_FOR_MS, type Deed, deedsOf, type NewApproval } from './store.ts';

/** Those that come within an hour while others wait: more stand in the console alone. */
const MAILS_AN_HOUR = 20;
const INPUT_CHARACTERS = 2_000;
const LAST_WORDS =
  'Opening the page changes nothing. Nothing is done until somebody decides; if nobody does in time, the call is not made.';

/** Whether the person may decide. `approvers`: ids of people as JSON; null: the owners. */
export function mayDecide({ approvers }: { readonly approvers: string | null }, { personId, role }: Member): boolean {
  return approvers === null ? role === 'owner' : (JSON.parse(approvers) as string[]).includes(personId);
}

/** `recent`: approvals that wait since an hour or less. */
export async function mailApprovers(
  tx: Transaction,
  core: Pick<Services, 'secrets' | 'baseUrl'>,
  accountId: string,
  row: NewApproval,
  recent: number,
): Promise<void> {
  if (recent >= MAILS_AN_HOUR) return;
  const members = (await membersOf(tx, accountId)).filter((member) => mayDecide(row, member));
  const [key, deeds] = await Promise.all([findKey(tx, accountId, row.key_id), deedsOf(tx, accountId, row.key_id)]);
  const keyName = key?.name ?? row.key_id;
  // Whoever comes late is told what became of the call.
  const endsAtMs = row.expires_at + ANSWERED_FOR_MS;
  for (const { personId, email } of members) {
    if (email === null) continue;
    const link = linkOf(core, { accountId, approvalId: row.approval_id, personId, endsAtMs });
    await sendMail(tx, { to: email, accountId, ...mailOf(row, keyName, deeds, link) }, row.created_at);
  }
}

/** What a key did, in words. */
export function deedText({ capability, calls, spend_nanos: nanos }: Deed): string {
  const paid = nanos === 0n ? '' : `, ${usdText(nanos)} USD`;
  return `${capability}: ${countOf(Number(calls), 'call')}${paid}`;
}

export function costText(row: Pick<NewApproval, 'cost_nanos'>): string {
  return row.cost_nanos === 0n ? 'nothing' : `at most ${usdText(row.cost_nanos)} USD`;
}

function mailOf(row: NewApproval, keyName: string, deeds: readonly Deed[], link: string) {
  const { capability, rule_name: rule, expires_at: expiresAt } = row;
  const facts = [
    `What: ${capability}`,
    `By: key ${keyName}`,
    `Costs: ${costText(row)}`,
    `Rule: ${rule}`,
    `Until: ${iso(expiresAt)}`,
  ];
  const input = shownInput(row.input);
  const did = deeds.length === 0 ? 'nothing' : deeds.map(deedText).join('\n');
  const text = [
    `The key ${keyName} wants to call ${capability}.`,
    facts.join('\n'),
    `Input:\n${input}`,
    `What the key did in this hour and the one before:\n${did}`,
    `Approve or deny on this page: ${link}`,
    LAST_WORDS,
  ].join('\n\n');
  const body = html`<p>The key <b>${keyName}</b> wants to call <b>${capability}</b>.</p>
<p>${facts.map((fact) => html`${fact}<br>`)}</p>
<p>Input:</p>
<pre>${input}</pre>
<p>What the key did in this hour and the one before:</p>
<pre>${did}</pre>
<p><a href="${link}">Approve or deny</a></p>
<p>${LAST_WORDS}</p>
`.text;
  return { subject: `Approve ${capability}? Asked by ${keyName}`, text: `${text}\n`, html: body };
}

/** As people read it, cut where it is long. */
function shownInput(input: string | null): string {
  const whole = inputText(input === null ? null : JSON.parse(input));
  const shown = firstCharacters(whole, INPUT_CHARACTERS);
  return shown === whole ? whole : `${shown}\n… (the page has all of it)`;
}
