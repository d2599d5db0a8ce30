// Sign-in by mail: a link and a six-digit code, valid for 15 minutes, used once. The link works in any browser, by a button that no
// scanner presses. The code works only in the browser that asked, five times. Nothing is looked up before the mail is sent, so neither the
// answer nor its timing tells which addresses are known.

import { createHmac, randomInt } from 'node:crypto';
import { createAccount } from '../../core/accounts/accounts.ts';
import type { Core } from '../../core/core.ts';
import { clockNow } from '../../core/database-clock.ts';
import { type Secrets, sameDigest } from '../../core/secrets/secrets.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { html } from '../../lib/html.ts';
import { newId } from '../../lib/ids.ts';
import { MINUTE_MS } from '../../lib/time.ts';
import { OPERATOR } from '../acting-owner.ts';
import { sendMail } from '../mail/mail.ts';
import {
  addIdentity,
  createPerson,
  EMAIL,
  findByIdentity,
  membershipsOf,
  type Person,
  setHome,
  setMember,
} from '../persons.ts';
import type { Role } from '../roles.ts';
import type { SignUp } from '../terms.ts';
import { type Invitation, invitationHolds } from './invitations.ts';
import { hashOf, isToken, newToken, requireMail } from './mail-link.ts';
import { requireMaySignUp } from './sign-up.ts';

export const CODE_LIVES_MS = 15 * MINUTE_MS;
const TRIES_MAX = 5;

const insertSignIn = statement(
  'mail_sign_in_insert',
  `INSERT INTO core.mail_sign_in (link_hash, email, browser_hash, code_hash, return_to, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6)`,
);
const selectByLink = statement(
  'mail_sign_in_select',
  `SELECT s.email, s.account_id, s.role, s.return_to, s.invited_by
     FROM core.mail_sign_in s
     LEFT JOIN core.member m ON m.account_id = s.account_id AND m.person_id = s.invited_by
    WHERE s.link_hash = $1 AND s.expires_at > $2 AND (s.account_id IS NULL OR m.role = 'owner' OR s.invited_by = '${OPERATOR}')`,
);
const takeByLink = statement(
  'mail_sign_in_take',
  `DELETE FROM core.mail_sign_in WHERE link_hash = $1 AND expires_at > $2
   RETURNING email, account_id, role, return_to, invited_by`,
);
const tryCode = statement(
  'mail_sign_in_try',
  `UPDATE core.mail_sign_in SET tries = tries + 1 WHERE browser_hash = $1 AND tries < $2 AND expires_at > $3
   RETURNING link_hash, code_hash`,
);

/** What a link or code stands for. */
export interface SignInByMail {
  readonly email: string;
  /** Null: it is none. */
  readonly invitation: Invitation | null;
  readonly returnTo: string;
}

interface SignInRow {
  readonly email: string;
  readonly account_id: string | null;
  readonly role: Role | null;
  readonly return_to: string;
  readonly invited_by: string | null;
}

type MailCore = Pick<Core, 'db' | 'secrets' | 'baseUrl'>;

/** Who asks: the address as mailAddress has it. */
export interface Asking {
  readonly email: string;
  readonly returnTo: string;
  readonly remoteAddress: string;
}

/**
 * Sends link and code. Answers the token of the browser that asked, for its cookie.
 * Throws RATE_LIMITED beyond 5 mails an hour to a mailbox, and 20 from a network.
 */
export async function askForSignIn(core: MailCore, { email, returnTo, remoteAddress }: Asking): Promise<string> {
  const nowMs = await clockNow(core.db);
  await requireMail(core.db, email, remoteAddress, nowMs);
  const [link, browser] = [newToken(), newToken()];
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  await core.db.transaction(async (tx) => {
    const codeHash = hashOfCode(core.secrets, hashOf(link), code);
    const expires = timestamp(nowMs + CODE_LIVES_MS);
    await tx.query(insertSignIn, [hashOf(link), email, hashOf(browser), codeHash, returnTo, expires]);
    await sendMail(tx, { to: email, ...signInMail(`${core.baseUrl}/auth/mail/${link}`, code) }, nowMs);
  });
  return browser;
}

/** What a link stands for; nothing is used up. Null: it was used, is too old, is an invitation that has ended, or never was. */
export async function findByLink(db: Queryable, link: string): Promise<SignInByMail | null> {
  if (!isToken(link)) return null;
  const { rows } = await db.query<SignInRow>(selectByLink, [hashOf(link), timestamp(await clockNow(db))]);
  return rows[0] === undefined ? null : signInOf(rows[0]);
}

/** Uses the link up. Null as above. Throws QUOTA_EXCEEDED, and the link lives on, for an invitation into a full account. */
export async function takeLink(tx: Transaction, link: string): Promise<SignInByMail | null> {
  const found = await findByLink(tx, link);
  if (found === null || (found.invitation !== null && !(await invitationHolds(tx, found.invitation)))) return null;
  return take(tx, hashOf(link));
}

/** Uses the code of a browser up; a wrong one is one of five tries. Null: it is wrong, used, too old, or of another browser. */
export async function takeCode(
  { db, secrets }: Pick<Core, 'db' | 'secrets'>,
  browser: string,
  code: string,
): Promise<SignInByMail | null> {
  if (!isToken(browser)) return null;
  // By itself: a try counts, whatever becomes of it.
  const values = [hashOf(browser), TRIES_MAX, timestamp(await clockNow(db))];
  const [row] = (await db.query<{ link_hash: Buffer; code_hash: Buffer }>(tryCode, values)).rows;
  if (row === undefined || !sameDigest(row.code_hash, hashOfCode(secrets, row.link_hash, code))) return null;
  return db.transaction((tx) => take(tx, row.link_hash));
}

async function take(tx: Transaction, linkHash: Buffer): Promise<SignInByMail | null> {
  const { rows } = await tx.query<SignInRow>(takeByLink, [linkHash, timestamp(await clockNow(tx))]);
  return rows[0] === undefined ? null : signInOf(rows[0]);
}

/**
 * Who has shown that the address is theirs, with the account that they act for: known already, invited, or new.
 * Throws SIGNUP_CLOSED.
 */
export async function personByMail(tx: Transaction, signUp: SignUp, taken: SignInByMail) {
  const { email, invitation } = taken;
  const nowMs = await clockNow(tx);
  const personId = newId('pers_', nowMs);
  const identity = { issuer: EMAIL, subject: email };
  const known = await findByIdentity(tx, identity);
  if (known === null && invitation === null) requireMaySignUp(signUp, email);
  // Of two who are new at once the second finds the first.
  if (known !== null || !(await addIdentity(tx, identity, { personId }, nowMs)))
    return welcome(tx, signUp, known ?? ((await findByIdentity(tx, identity)) as Person), taken, nowMs);
  const accountId = invitation?.accountId ?? (await createAccount(tx, { email }));
  await createPerson(tx, { personId, accountId, email, name: null, role: invitation?.role ?? 'owner' }, nowMs);
  return { personId, accountId };
}

/** Whoever shows that the address is theirs owns the account from now on: the operator vouches for it. */
export async function ownByAddress(tx: Transaction, accountId: string, email: string): Promise<void> {
  await personByMail(
    tx,
    { isOpen: false, domains: [] },
    { email, returnTo: '', invitation: { accountId, role: 'owner', invitedBy: null } },
  );
}

/** Of who is known; who was removed from every account is as new. */
async function welcome(tx: Transaction, signUp: SignUp, person: Person, taken: SignInByMail, nowMs: number) {
  const { personId } = person;
  const { email, invitation } = taken;
  const memberships = await membershipsOf(tx, personId);
  const home = memberships.find(({ accountId }) => accountId === person.accountId) ?? memberships[0];
  if (invitation === null && home !== undefined) return { personId, accountId: home.accountId };
  if (invitation === null) requireMaySignUp(signUp, email);
  const { accountId, role } = invitation ?? { accountId: await createAccount(tx, { email }), role: 'owner' };
  const isOwner = memberships.some((each) => each.accountId === accountId && each.role === 'owner');
  await setHome(tx, personId, accountId);
  if (!isOwner) await setMember(tx, { personId, accountId, role }, nowMs);
  return { personId, accountId };
}

/** Keyed: a million codes are soon tried by who reads the table. */
function hashOfCode(secrets: Secrets, linkHash: Buffer, code: string): Buffer {
  return createHmac('sha256', secrets.derive('mail-code', 32))
    .update(linkHash)
    .update(code.replace(/\s/g, ''))
    .digest();
}

function signInOf(row: SignInRow): SignInByMail {
  const { email, account_id: accountId, role, return_to: returnTo, invited_by: invitedBy } = row;
  return { email, returnTo, invitation: accountId === null || role === null ? null : { accountId, role, invitedBy } };
}

function signInMail(link: string, code: string) {
  const shown = `${code.slice(0, 3)} ${code.slice(3)}`;
  return {
    subject: 'Your sign-in to Quartermaster',
    text: `Open this link and press the button to sign in:\n${link}\n\nOr enter this code in the browser that asked for it: ${shown}\n\nBoth work once, for 15 minutes. Give the code to nobody. If you did not ask for it, do nothing.\n`,
    html: html`<p>Open this link and press the button to sign in:</p><p><a href="${link}">${link}</a></p><p>Or enter this code in the browser that asked for it: <strong>${shown}</strong></p><p>Both work once, for 15 minutes. Give the code to nobody. If you did not ask for it, do nothing.</p>`
      .text,
  };
}
