// What the page of who is signed in does. Each form carries the token of its session; what changes who may act for the account asks for a
// sign-in of the last 15 minutes.
import { keysStopped, restoreAccount } from '../../../core/accounts/deletion/deletion.ts';
import type { Core } from '../../../core/context.ts';
import { mailAddress } from '../../../core/people/addresses.ts';
import { membershipsOf, membersMax, membersOf, removeMember, setHome } from '../../../core/people/persons.ts';
import {
  endSession,
  endSessionsIn,
  endSessionsOf,
  isRecent,
  sessionsOf,
  switchAccount,
} from '../../../core/people/sessions/sessions.ts';
import { invite } from '../../../core/people/sign-in/by-mail.ts';
import type { RawAnswer, RawRequest } from '../../../manifest/raw-route.ts';
import { Problem } from '../../../problems/problem.ts';
import { foreignFormPage } from '../message.ts';
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

const PAGE = '/auth/account';

type Act = (core: Core, request: RawRequest, visitor: Visitor, form: URLSearchParams) => Promise<RawAnswer>;

export async function showAccount(core: Core, request: RawRequest): Promise<RawAnswer> {
  const visitor = await visitorOf(core, request);
  return visitor === null ? signInFirst(core, request) : accountPage(core, visitor);
}

/** A form of the page: of a live session, with its token. */
export function accountForm(act: Act): (core: Core, request: RawRequest) => Promise<RawAnswer> {
  return async (core, request) => {
    const visitor = await visitorOf(core, request);
    if (visitor === null) return signInFirst(core, { url: PAGE });
    const form = readForm(request.headers, request.body);
    return isFormOf(core, request, form, visitor) ? act(core, request, visitor, form) : foreignFormPage();
  };
}

/** Of an owner who has just signed in. */
function ownersForm(act: Act): Act {
  return async (core, request, visitor, form) => {
    if (visitor.session.role !== 'owner')
      return accountPage(core, visitor, { status: 403, done: 'Only an owner of the account may do that.' });
    return isRecent(visitor.session) ? act(core, request, visitor, form) : signInAgain(core, { url: PAGE });
  };
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
function afterwards(core: Core, form: URLSearchParams): string {
  return localPath(form.get('return_to')) ?? pathTo(core, PAGE);
}

/** Signs out on one device or everywhere: over on every process before the answer. */
export const endDevices: Act = async (core, _request, { session, person }, form) => {
  const gone = () => redirect(pathTo(core, '/auth'), { 'set-cookie': endingCookie(core.baseUrl) });
  if (person === null) return gone();
  if (form.has('all')) {
    await endSessionsOf(core.db, person.personId);
    return gone();
  }
  const sessionId = form.get('session_id') ?? '';
  const own = await sessionsOf(core.db, person.personId);
  if (own.some((each) => each.sessionId === sessionId)) await endSession(core.db, sessionId);
  return sessionId === session.sessionId ? gone() : redirect(afterwards(core, form));
};

export const inviteSomebody = ownersForm(async (core, { remoteAddress }, visitor, form) => {
  const email = mailAddress(form.get('email') ?? '');
  const role = form.get('role') === 'owner' ? 'owner' : 'viewer';
  const { accountId } = visitor.session;
  const refuse = (status: number, text: string) =>
    accountPage(core, visitor, { status, fault: { field: 'email', text, typed: form.get('email') ?? '' } });
  if (email === null) return refuse(400, 'Enter an e-mail address.');
  if ((await membersOf(core.db, accountId)).length >= membersMax)
    return refuse(409, 'The account has no room for more people.');
  try {
    await invite(core, { accountId, role, email, remoteAddress });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'RATE_LIMITED') throw error;
    return refuse(429, error.message);
  }
  return accountPage(core, visitor, { done: `An invitation is on its way to ${email}.` });
});

/** The person acts for the account no more, on no device, before the answer. */
export const removeSomebody = ownersForm(async (core, _request, visitor, form) => {
  const { accountId } = visitor.session;
  const personId = form.get('person_id') ?? '';
  const isRemoved = await core.db.transaction(async (tx) => {
    if (!(await removeMember(tx, accountId, personId))) return false;
    await endSessionsIn(tx, personId, accountId);
    const [next] = await membershipsOf(tx, personId);
    if (next !== undefined) await setHome(tx, personId, next.accountId);
    return true;
  });
  return accountPage(
    core,
    visitor,
    isRemoved ? { done: 'The person was removed.' } : { status: 409, done: 'An account keeps an owner.' },
  );
});

/** A deleted account is as it was, before the answer. */
export const restore: Act = ownersForm(async (core, _request, visitor) => {
  const { accountId } = visitor.session;
  try {
    await core.db.transaction((tx) => restoreAccount(tx, accountId));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return accountPage(core, visitor, { status: 409, done: error.message });
  }
  await keysStopped(core, accountId);
  return accountPage(core, visitor, { done: 'The account is restored: its keys work again.' });
});
