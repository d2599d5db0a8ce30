// Actions of the account page. Each form carries the token of its session. Changes to an account's people need a sign-in of the last
// 15 minutes.

import { findAccount } from '../../../core/accounts/accounts.ts';
import type { Transaction } from '../../../db/database.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { html } from '../../../lib/html.ts';
import { type ActingOwner, enterAsOwner, OPERATOR } from '../../../people/acting-owner.ts';
import { mailAddress } from '../../../people/addresses.ts';
import { membershipsOf, membersMax, membersOf, setHome } from '../../../people/persons.ts';
import { removePerson } from '../../../people/remove-person.ts';
import { isRole } from '../../../people/roles.ts';
import {
  endSession,
  endSessionsOf,
  isRecent,
  type Session,
  sessionsOf,
  switchAccount,
} from '../../../people/sessions/sessions.ts';
import { cancelInvitation, invite } from '../../../people/sign-in/invitations.ts';
import { Problem } from '../../../problems/problem.ts';
import { keysStopped, restoreAccount } from '../../../upkeep/deletion/deletion.ts';
import { foreignFormPage, message } from '../message.ts';
import { readForm } from '../own-form.ts';
import { endingCookie } from '../session-cookie.ts';
import {
  isFormOf,
  localPath,
  pathTo,
  redirect,
  signInAgain,
  signInFirst,
  type Visitor,
  visitorOf,
} from '../visitor.ts';
import { accountPage } from './account-page.ts';
import { logPeopleChange } from './audit.ts';
import { changesPeople } from './person-sections.ts';

const PAGE = '/auth/account';

type Act = (core: Services, request: RawRequest, visitor: Visitor, form: URLSearchParams) => Promise<RawAnswer>;

export async function showAccount(core: Services, request: RawRequest): Promise<RawAnswer> {
  const visitor = await visitorOf(core, request);
  return visitor === null ? signInFirst(core, request) : accountPage(core, visitor);
}

/** A form of the page: of a live session, with its token. */
export function accountForm(act: Act): (core: Services, request: RawRequest) => Promise<RawAnswer> {
  return async (core, request) => {
    const visitor = await visitorOf(core, request);
    if (visitor === null) return signInFirst(core, { url: PAGE });
    const form = readForm(request.headers, request.body);
    return isFormOf(core, request, form, visitor) ? act(core, request, visitor, form) : foreignFormPage();
  };
}

type OwnersAct = (
  core: Services,
  request: RawRequest,
  visitor: Visitor,
  owner: ActingOwner,
  form: URLSearchParams,
) => Promise<RawAnswer>;

/** Of an owner who has just signed in. */
function ownersForm(act: OwnersAct): Act {
  return async (core, request, visitor, form) => {
    const { session, principal } = visitor;
    if (!changesPeople(session) || principal === null)
      return accountPage(core, visitor, { status: 403, done: 'Only an owner of the account may do that.' });
    if (!isRecent(session)) return signInAgain(core, { url: PAGE });
    const accountId = await chosenAccount(core, session, form);
    const owner = { personId: session.personId ?? OPERATOR, sessionId: session.sessionId, principal, accountId };
    return act(core, request, visitor, owner, form);
  };
}

/** The operator changes the people of any account that there is. */
async function chosenAccount({ db }: Services, { kind, accountId }: Session, form: URLSearchParams): Promise<string> {
  const chosen = form.get('account_id');
  if (kind !== 'operator' || chosen === null) return accountId;
  return (await findAccount(db, chosen))?.accountId ?? accountId;
}

/** Null: the session has ended meanwhile, or its person owns the account no more; nothing was changed. */
function asOwner<T>(
  { db }: Services,
  owner: ActingOwner,
  change: (tx: Transaction, accountId: string) => Promise<T>,
): Promise<T | null> {
  return db.transaction(async (tx) => ((await enterAsOwner(tx, owner)) === null ? null : change(tx, owner.accountId)));
}

/** Nothing of the account is shown any more. */
function notAnOwner(): RawAnswer {
  const text = html`<p role="status">You signed out meanwhile, or you own this account no more. Nothing was changed.</p>`;
  return message(403, 'This form was refused', text);
}

/** The session acts for another account of its person. */
export const switchTo: Act = async (core, _request, { session, person }, form) => {
  const accountId = form.get('account_id') ?? '';
  const memberships = person === null ? [] : await membershipsOf(core.db, person.personId);
  if (person !== null && memberships.some((each) => each.accountId === accountId)) {
    await core.db.transaction(async (tx) => {
      await switchAccount(tx, session.sessionId, accountId);
      await setHome(tx, person.personId, accountId);
    });
  }
  return redirect(afterwards(core, form));
};

/** The page of the form. */
function afterwards(core: Services, form: URLSearchParams): string {
  return localPath(form.get('return_to')) ?? pathTo(core, PAGE);
}

/** Signs out on one device or everywhere: over on every process before the answer. */
export const endDevices: Act = async (core, _request, { session, person }, form) => {
  const redirectToSignIn = () => redirect(pathTo(core, '/auth'), { 'set-cookie': endingCookie(core.baseUrl) });
  if (person === null) return redirectToSignIn();
  if (form.has('all')) {
    await endSessionsOf(core.db, person.personId);
    return redirectToSignIn();
  }
  const sessionId = form.get('session_id') ?? '';
  const own = await sessionsOf(core.db, person.personId);
  if (own.some((each) => each.sessionId === sessionId)) await endSession(core.db, sessionId);
  return sessionId === session.sessionId ? redirectToSignIn() : redirect(afterwards(core, form));
};

export const inviteSomebody = ownersForm(async (core, request, visitor, owner, form) => {
  const email = mailAddress(form.get('email') ?? '');
  const sent = form.get('role') ?? '';
  const role = isRole(sent) ? sent : 'viewer';
  const refuse = (status: number, text: string) =>
    accountPage(core, visitor, { status, fault: { field: 'email', text, typed: form.get('email') ?? '' } });
  if (email === null) return refuse(400, 'Enter an e-mail address.');
  if ((await membersOf(core.db, owner.accountId)).length >= membersMax)
    return refuse(409, 'The account has no room for more people.');
  try {
    if (!(await invite(core, owner, { role, email, remoteAddress: request.remoteAddress }))) return notAnOwner();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'RATE_LIMITED') throw error;
    return refuse(429, error.message);
  }
  logPeopleChange(core, request, owner, 'account.people.invite', { email, role });
  return accountPage(core, visitor, { done: `An invitation is on its way to ${email}.` });
});

export const cancelInvited = ownersForm(async (core, request, visitor, owner, form) => {
  const email = await asOwner(core, owner, (tx, accountId) =>
    cancelInvitation(tx, accountId, form.get('invitation') ?? ''),
  );
  if (email === null) return notAnOwner();
  if (email !== false) logPeopleChange(core, request, owner, 'account.people.cancel_invitation', { email });
  const page =
    email !== false
      ? { done: 'The invitation was cancelled: its link does not work any more.' }
      : { status: 409, done: 'This invitation was accepted or cancelled already, or it has expired.' };
  return accountPage(core, visitor, page);
});

/** The person acts for the account no more, on no device, before the answer. */
export const removeSomebody = ownersForm(async (core, request, visitor, owner, form) => {
  const { accountId } = owner;
  const personId = form.get('person_id') ?? '';
  const person = (await membersOf(core.db, accountId)).find((member) => member.personId === personId);
  const isRemoved = await asOwner(core, owner, (tx) => removePerson(tx, accountId, personId));
  if (isRemoved === null) return notAnOwner();
  // Nobody knows the name behind the id afterwards.
  if (isRemoved)
    logPeopleChange(core, request, owner, 'account.people.remove', {
      person: person?.email ?? person?.name ?? personId,
    });
  const page = isRemoved
    ? {
        done: 'The person was removed, and invitations that they gave have ended. Keys whose secrets they know still work: revoke those in the console.',
      }
    : { status: 409, done: 'An account keeps an owner.' };
  return accountPage(core, visitor, page);
});

/** A deleted account is as it was, before the answer. */
export const restore: Act = ownersForm(async (core, request, visitor, owner) => {
  const { accountId } = owner;
  try {
    if ((await asOwner(core, owner, restoreAccount)) === null) return notAnOwner();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return accountPage(core, visitor, { status: 409, done: error.message });
  }
  await keysStopped(core, accountId);
  logPeopleChange(core, request, owner, 'account.restore', {});
  return accountPage(core, visitor, { done: 'The account is restored: its keys work again.' });
});
