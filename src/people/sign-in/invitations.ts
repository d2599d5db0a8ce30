// Invitations to an account: a link by mail, valid for a week. Owners and the operator invite, and an owner's invitation holds only while its
// sender owns the account. Both are checked under the account's lock.

import { lockAccount } from '../../core/callers/lock.ts';
import type { Core } from '../../core/core.ts';
import { clockNow } from '../../core/database-clock.ts';
import { textArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { html } from '../../lib/html.ts';
import { DAY_MS } from '../../lib/time.ts';
import { problem } from '../../problems/problem.ts';
import { type ActingOwner, enterAsOwner, OPERATOR } from '../acting-owner.ts';
import { sendMail } from '../mail/mail.ts';
import { lockOwner, membersMax, membersOf } from '../persons.ts';
import { type Role, roleTexts } from '../roles.ts';
import { hashOf, newToken, requireMail } from './mail-link.ts';

const LIVES_MS = 7 * DAY_MS;
const LISTED_MAX = 100;
const ID = /^[0-9A-Za-z_-]{43}$/;

const insertInvitation = statement(
  'invitation_insert',
  `INSERT INTO core.mail_sign_in (link_hash, account_id, role, email, invited_by, return_to, expires_at)
   VALUES ($1, $2, $3, $4, $5, '', $6)`,
);
const selectPending = statement(
  'invitation_select_pending',
  `SELECT s.link_hash, s.email, s.role, s.expires_at
     FROM core.mail_sign_in s
     LEFT JOIN core.member m ON m.account_id = $1 AND m.person_id = s.invited_by AND m.role = 'owner'
    WHERE s.account_id = $1 AND s.expires_at > core.clock_now() AND (m.person_id IS NOT NULL OR s.invited_by = '${OPERATOR}')
    ORDER BY s.expires_at DESC, s.link_hash
    LIMIT $2`,
);
const deleteOne = statement(
  'invitation_delete',
  'DELETE FROM core.mail_sign_in WHERE link_hash = $2 AND account_id = $1 AND expires_at > core.clock_now() RETURNING email',
);
const deleteOfPerson = statement(
  'invitation_delete_of_person',
  'DELETE FROM core.mail_sign_in WHERE account_id = $1 AND invited_by = $2',
);
const moveToPerson = statement(
  'invitation_move',
  'UPDATE core.mail_sign_in SET invited_by = $3 WHERE account_id = ANY($1::text[]) AND invited_by = $2',
);

/** What an invitation gives to whoever has its link. */
export interface Invitation {
  readonly accountId: string;
  readonly role: Role;
  /** The person who gave it, or OPERATOR; null: nobody is known to. */
  readonly invitedBy: string | null;
}

/** One that waits to be accepted. */
export interface PendingInvitation {
  /** Names it in forms; no link can be made of it. */
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly expiresAtMs: number;
}

/**
 * Sends a link that makes whoever has the address one of the account's people, for a week. False: the owner has signed out, or owns the
 * account no more. Throws RATE_LIMITED.
 * @param email as mailAddress has it
 */
export async function invite(
  core: Pick<Core, 'db' | 'baseUrl'>,
  owner: ActingOwner,
  { role, email, remoteAddress }: { role: Role; email: string; remoteAddress: string },
): Promise<boolean> {
  await requireMail(core.db, email, remoteAddress, await clockNow(core.db));
  const link = newToken();
  const { accountId } = owner;
  return core.db.transaction(async (tx) => {
    const nowMs = await enterAsOwner(tx, owner);
    if (nowMs === null) return false;
    const expires = timestamp(nowMs + LIVES_MS);
    await tx.query(insertInvitation, [hashOf(link), accountId, role, email, owner.personId, expires]);
    const mail = invitationMail(`${core.baseUrl}/auth/mail/${link}`, role);
    await sendMail(tx, { to: email, accountId, ...mail }, nowMs);
    return true;
  });
}

/** Those that wait, the newest first; at most a hundred. */
export async function pendingInvitations(db: Queryable, accountId: string): Promise<PendingInvitation[]> {
  const { rows } = await db.query<{ link_hash: Buffer; email: string; role: Role; expires_at: number }>(selectPending, [
    accountId,
    LISTED_MAX,
  ]);
  return rows.map(({ link_hash, email, role, expires_at }) => ({
    id: link_hash.toString('base64url'),
    email,
    role,
    expiresAtMs: expires_at,
  }));
}

/** Whom it was sent to; false: it does not wait any more, or is another account's. */
export async function cancelInvitation(tx: Transaction, accountId: string, id: string): Promise<string | false> {
  if (!ID.test(id)) return false;
  const { rows } = await tx.query<{ email: string }>(deleteOne, [accountId, Buffer.from(id, 'base64url')]);
  return rows[0]?.email ?? false;
}

/** Ends those that the person gave. */
export async function endInvitationsOf(tx: Transaction, accountId: string, personId: string): Promise<void> {
  await tx.query(deleteOfPerson, [accountId, personId]);
}

/** What one person gave is another's from now on: both are one human. */
export async function moveInvitations(tx: Transaction, accounts: readonly string[], from: string, to: string) {
  await tx.query(moveToPerson, [textArray(accounts), from, to]);
}

/**
 * Locks the account, and answers whether whoever gave the invitation owns it still.
 * Throws QUOTA_EXCEEDED when the account has no room for one more.
 */
export async function invitationHolds(tx: Transaction, { accountId, invitedBy }: Invitation): Promise<boolean> {
  await lockAccount(tx, accountId);
  if (invitedBy === null) return false;
  if (invitedBy !== OPERATOR && !(await lockOwner(tx, accountId, invitedBy))) return false;
  if ((await membersOf(tx, accountId)).length < membersMax) return true;
  throw problem('QUOTA_EXCEEDED', {
    message: `The account has its ${membersMax} people. An owner must remove one first.`,
  });
}

function invitationMail(link: string, role: Role) {
  const what = `an account as ${role} (${roleTexts[role]})`;
  return {
    subject: 'An invitation to Quartermaster',
    text: `You are invited to ${what}. Open this link and press the button:\n${link}\n\nIt works once, for seven days. If you know nothing of it, do nothing.\n`,
    html: html`<p>You are invited to ${what}. Open this link and press the button:</p><p><a href="${link}">${link}</a></p><p>It works once, for seven days. If you know nothing of it, do nothing.</p>`
      .text,
  };
}
