// Page for leaving an account. It asks the owner which of the account's keys are revoked with it. The leaver may know a key's secret, and no
// record says who made which key: the account would go on paying for them.

import { forgetKeyHere } from '../../../core/hear-siblings.ts';
import { revokeKey } from '../../../core/keys/changes.ts';
import { listKeys, type StoredKey } from '../../../core/keys/store.ts';
import type { Transaction } from '../../../db/database.ts';
import { tokenField } from '../../../kit/console/form.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { type Html, html } from '../../../lib/html.ts';
import { iso } from '../../../lib/time.ts';
import { enterAsOwner } from '../../../people/acting-owner.ts';
import { removePerson } from '../../../people/remove-person.ts';
import { isRecent } from '../../../people/sessions/sessions.ts';
import { framePage } from '../frame.ts';
import { foreignFormPage } from '../message.ts';
import { readForm } from '../own-form.ts';
import { endingCookie } from '../session-cookie.ts';
import {
  isFormOf,
  pathTo,
  redirect,
  signInAgain,
  signInFirst,
  signOutForm,
  type Visitor,
  visitorOf,
} from '../visitor.ts';

const PAGE = '/auth/account/leave';
/** The newest ones; the others are revoked in the console. */
const KEYS_SHOWN = 100;

const FAULTS = {
  last_owner: 'You are the last owner of the account. Invite another owner before you leave.',
  not_owner: 'Only an owner can revoke keys. You have signed out, or you are no longer an owner. Nothing was changed.',
};

/** What was refused, and the keys that were chosen then: nobody chooses them twice. */
interface Refused {
  readonly fault: string;
  readonly chosen: readonly string[];
}

/** The page, and its form. */
export async function leaveAccount(core: Services, request: RawRequest): Promise<RawAnswer> {
  const visitor = await visitorOf(core, request);
  if (visitor === null || visitor.session.personId === null || visitor.session.role === null)
    return signInFirst(core, { url: PAGE });
  if (request.method !== 'POST') return leavePage(core, visitor);
  const form = readForm(request.headers, request.body);
  if (!isFormOf(core, request, form, visitor)) return foreignFormPage();
  if (!isRecent(visitor.session)) return signInAgain(core, { url: PAGE });
  const chosen = form.getAll('key');
  const left = await leave(core, visitor, visitor.session.personId, chosen);
  if (left !== 'left') return leavePage(core, visitor, { fault: FAULTS[left], chosen });
  return redirect(pathTo(core, '/auth'), { 'set-cookie': endingCookie(core.baseUrl) });
}

/** Both in one transaction: keys that were to end with it never outlive the membership. */
async function leave(core: Services, visitor: Visitor, personId: string, keyIds: readonly string[]) {
  const { session, principal } = visitor;
  const { accountId, sessionId } = session;
  const answer = await core.db
    .transaction(async (tx) => {
      if (keyIds.length > 0) {
        const nowMs =
          principal === null
            ? null
            : await enterAsOwner(tx, { personId, sessionId, principal, accountId: principal.accountId });
        if (nowMs === null) return 'not_owner';
        await revokeAll(tx, accountId, keyIds, nowMs);
      }
      // Nothing is revoked when nobody would own the account then.
      if (!(await removePerson(tx, accountId, personId))) throw new LastOwner();
      return 'left';
    })
    .catch((error: unknown) => {
      if (error instanceof LastOwner) return 'last_owner' as const;
      throw error;
    });
  if (answer === 'left' && keyIds.length > 0) {
    await Promise.all(keyIds.map((keyId) => forgetKeyHere(core, keyId)));
    await core.processes.keyDropInForce();
  }
  return answer;
}

class LastOwner extends Error {}

async function revokeAll(tx: Transaction, accountId: string, keyIds: readonly string[], nowMs: number): Promise<void> {
  const known = new Set((await listKeys(tx, accountId)).map(({ keyId }) => keyId));
  for (const keyId of keyIds) if (known.has(keyId)) await revokeKey(tx, accountId, keyId, 'requested', nowMs);
}

async function leavePage(core: Services, visitor: Visitor, refused?: Refused): Promise<RawAnswer> {
  const { session } = visitor;
  const all = session.role === 'owner' ? await listKeys(core.db, session.accountId) : [];
  const live = all.filter(({ status }) => status === 'active' || status === 'rotating');
  const content = html`<h1>Leave the account</h1>
${refused === undefined ? '' : html`<p class="failure" role="alert">${refused.fault}</p>`}
<p>You lose access to ${session.accountId} on every device, and the invitations that you sent end. Only an owner of the account can invite you again.</p>
<form method="post" action="${pathTo(core, PAGE)}">${tokenField(visitor)}
${live.length === 0 ? '' : keysField(live, refused?.chosen ?? [])}
<button class="main">Leave</button>
</form>
<p><a href="${pathTo(core, '/auth/account')}">Stay</a></p>`;
  const signOut = signOutForm(core, visitor);
  return framePage({
    status: refused === undefined ? 200 : 409,
    title: 'Leave the account',
    content,
    signOut,
    isNarrow: true,
  });
}

function keysField(live: readonly StoredKey[], chosen: readonly string[]): Html {
  const row = ({ keyId, name, prefix, last4, createdAtMs }: StoredKey) =>
    html`<label class="choice"><input type="checkbox" name="key" value="${keyId}"${chosen.includes(keyId) ? html` checked` : ''}><span><bdi>${name ?? keyId}</bdi><br><code>${prefix}…${last4}</code> <span class="quiet">created ${iso(createdAtMs).slice(0, 10)}</span></span></label>
`;
  const rest = live.length - KEYS_SHOWN;
  return html`<fieldset><legend>Revoke keys</legend>
<p class="quiet">Keys still work after you leave, and the account pays for what is done with them. Choose the keys that you made for yourself.</p>
${live.slice(0, KEYS_SHOWN).map(row)}${rest > 0 ? html`<p class="quiet">${rest} older keys are in the console, under Keys.</p>` : ''}</fieldset>`;
}
