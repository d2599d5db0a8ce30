// Leaving an account: its owner is asked which of its keys end with that. A key's secret may be known to whoever leaves, and nobody has
// written down who made which: the account would go on paying for it.
import type { Core } from '../../../core/context.ts';
import { revokeKey } from '../../../core/keys/changes.ts';
import { listKeys, type StoredKey } from '../../../core/keys/store.ts';
import { enterAsOwner } from '../../../core/people/acting-owner.ts';
import { removePerson } from '../../../core/people/remove-person.ts';
import { isRecent } from '../../../core/people/sessions/sessions.ts';
import { forgetKeyHere } from '../../../core/process/hear-siblings.ts';
import type { Transaction } from '../../../db/database.ts';
import { type Html, html } from '../../../lib/html.ts';
import { iso } from '../../../lib/time.ts';
import type { RawAnswer, RawRequest } from '../../../manifest/raw-route.ts';
import { framed } from '../frame.ts';
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
  tokenField,
  type Visitor,
  visitorOf,
} from '../visitor.ts';

const PAGE = '/auth/account/leave';
/** The newest ones; the others are revoked in the console. */
const KEYS_SHOWN = 100;

/** The page, and its form. */
export async function leaveAccount(core: Core, request: RawRequest): Promise<RawAnswer> {
  const visitor = await visitorOf(core, request);
  if (visitor === null || visitor.session.personId === null || visitor.session.role === null)
    return signInFirst(core, { url: PAGE });
  if (request.method !== 'POST') return leavePage(core, visitor);
  const form = readForm(request.headers, request.body);
  if (!isFormOf(core, request, form, visitor)) return foreignFormPage();
  if (!isRecent(visitor.session)) return signInAgain(core, { url: PAGE });
  const left = await leave(core, visitor, visitor.session.personId, form.getAll('key'));
  if (left === 'last_owner') return leavePage(core, visitor, 'An account keeps an owner: invite another one first.');
  if (left === 'not_owner')
    return leavePage(
      core,
      visitor,
      'Only an owner revokes keys. You signed out meanwhile, or are none any more: nothing was changed.',
    );
  return redirect(pathTo(core, '/auth'), { 'set-cookie': endingCookie(core.baseUrl) });
}

/** Both in one transaction: keys that were to end with it never outlive the membership. */
async function leave(core: Core, visitor: Visitor, personId: string, keyIds: readonly string[]) {
  const { session, principal } = visitor;
  const { accountId, sessionId } = session;
  const answer = await core.db
    .transaction(async (tx) => {
      if (keyIds.length > 0) {
        const nowMs = principal === null ? null : await enterAsOwner(tx, { personId, sessionId, principal });
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

async function leavePage(core: Core, visitor: Visitor, fault?: string): Promise<RawAnswer> {
  const { session } = visitor;
  const all = session.role === 'owner' ? await listKeys(core.db, session.accountId) : [];
  const live = all.filter(({ status }) => status === 'active' || status === 'rotating');
  const content = html`<h1>Leave the account</h1>
${fault === undefined ? '' : html`<p class="failure" role="alert">${fault}</p>`}
<p>You act no more for ${session.accountId}, on no device, and invitations that you gave end. Only another owner can let you in again.</p>
<form method="post" action="${pathTo(core, PAGE)}">${tokenField(visitor)}
${live.length === 0 ? '' : keysField(live)}
<button class="main">Leave</button>
</form>
<p><a href="${pathTo(core, '/auth/account')}">Stay</a></p>`;
  const signOut = signOutForm(core, visitor);
  return framed({
    status: fault === undefined ? 200 : 409,
    title: 'Leave the account',
    content,
    signOut,
    isNarrow: true,
  });
}

function keysField(live: readonly StoredKey[]): Html {
  const row = ({ keyId, name, prefix, last4, createdAtMs }: StoredKey) =>
    html`<label class="choice"><input type="checkbox" name="key" value="${keyId}"><span><bdi>${name ?? keyId}</bdi> <code>${prefix}…${last4}</code> <span class="quiet">created ${iso(createdAtMs).slice(0, 10)}</span></span></label>
`;
  const rest = live.length - KEYS_SHOWN;
  return html`<fieldset><legend>Revoke these keys</legend>
<p class="quiet">Keys do not end with your leaving: the account pays for whoever has their secrets. Choose those that you made for yourself.</p>
${live.slice(0, KEYS_SHOWN).map(row)}${rest > 0 ? html`<p class="quiet">${rest} older ones are in the console, under Keys.</p>` : ''}</fieldset>`;
}
