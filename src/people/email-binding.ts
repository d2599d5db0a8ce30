// Binds a mail address to an account: a mail with a code and a link, either of which binds it, once, within 15 minutes.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Account } from '../core/accounts/accounts.ts';
import { setEmail } from '../core/accounts/changes.ts';
import { lockAccount } from '../core/callers/lock.ts';
import type { Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import { html } from '../lib/html.ts';
import { randomText } from '../lib/ids.ts';
import { HOUR_MS, MINUTE_MS } from '../lib/time.ts';
import { normalisedAddress } from './addresses.ts';
import { ask } from './asked.ts';
import { sendMail } from './mail/mail.ts';

export const bindingMs = 15 * MINUTE_MS;
const TRIES_MAX = 5;
const MAILS_MAX = 5;
/** 178 random bits. */
const LINK_CHARACTERS = 30;

interface BindingRow {
  readonly email: string;
  readonly code_hash: Buffer;
  readonly link_hash: Buffer;
  readonly tries: number;
  readonly expires_at: number;
}

const read = statement(
  'email_binding_read',
  'SELECT email, code_hash, link_hash, tries, expires_at FROM core.email_binding WHERE account_id = $1',
);
const write = statement(
  'email_binding_write',
  `INSERT INTO core.email_binding (account_id, email, code_hash, link_hash, tries, expires_at)
   VALUES ($1, $2, $3, $4, 0, $5)
       ON CONFLICT (account_id) DO UPDATE
      SET email = excluded.email, code_hash = excluded.code_hash, link_hash = excluded.link_hash, tries = 0,
          expires_at = excluded.expires_at`,
);
const countTry = statement(
  'email_binding_count_try',
  'UPDATE core.email_binding SET tries = tries + 1 WHERE account_id = $1',
);
const end = statement('email_binding_end', 'UPDATE core.email_binding SET expires_at = $2 WHERE account_id = $1');

/** Mails a code and a link. Answers when they end, or how long there will be no further mail. */
export async function askForEmail(
  tx: Transaction,
  { accountId, email, baseUrl }: { readonly accountId: string; readonly email: string; readonly baseUrl: string },
): Promise<{ readonly expiresAtMs: number } | { readonly retryAfterMs: number }> {
  const nowMs = (await lockAccount(tx, accountId)) as number;
  const bound = { times: MAILS_MAX, windowMs: HOUR_MS };
  const waits = [
    await ask(tx, `binding for ${accountId}`, bound, nowMs),
    await ask(tx, `mail to ${normalisedAddress(email) ?? email}`, bound, nowMs),
  ];
  const retryAfterMs = Math.max(...waits);
  if (retryAfterMs > 0) return { retryAfterMs };
  const [code, link] = [sixDigits(), randomText(LINK_CHARACTERS)];
  const expiresAtMs = nowMs + bindingMs;
  await tx.query(write, [accountId, email, hashOf(code), hashOf(link), timestamp(expiresAtMs)]);
  await sendMail(tx, { to: email, accountId, ...mailOf(code, `${baseUrl}/auth/email/${accountId}/${link}`) }, nowMs);
  return { expiresAtMs };
}

/** Binds the address that the code, or the token of the link, was mailed to. Null: it is wrong, used, late, or was tried too often. */
export async function bindEmail(
  tx: Transaction,
  {
    accountId,
    secret,
    requestId,
  }: { readonly accountId: string; readonly secret: string; readonly requestId: string | null },
): Promise<Account | null> {
  const nowMs = await lockAccount(tx, accountId);
  const row = (await tx.query<BindingRow>(read, [accountId])).rows[0];
  if (nowMs === null || row === undefined || row.expires_at <= nowMs || row.tries >= TRIES_MAX) return null;
  const hash = hashOf(secret);
  const isRight = [row.code_hash, row.link_hash].map((known) => timingSafeEqual(known, hash)).includes(true);
  if (!isRight) {
    await tx.query(countTry, [accountId]);
    return null;
  }
  await tx.query(end, [accountId, timestamp(nowMs)]);
  return setEmail(tx, accountId, row.email, requestId);
}

function sixDigits(): string {
  const [a = 0, b = 0] = new Uint32Array(crypto.getRandomValues(new Uint32Array(2)));
  return String((BigInt(a) * 2n ** 32n + BigInt(b)) % 1_000_000n).padStart(6, '0');
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(`email binding ${secret}`).digest();
}

function mailOf(code: string, link: string) {
  const minutes = bindingMs / MINUTE_MS;
  const lines = [
    `Somebody wants to bind this address to an account. The code is ${code}.`,
    `Or open this link and confirm there: ${link}`,
    `Both work once, for ${minutes} minutes. If it was not you, do nothing.`,
  ];
  const body = html`<p>Somebody wants to bind this address to an account. The code is <strong>${code}</strong>.</p>
<p>Or <a href="${link}">confirm it here</a>.</p>
<p>Both work once, for ${minutes} minutes. If it was not you, do nothing.</p>`;
  return { subject: `${code} is your code`, text: lines.join('\n\n'), html: body.text };
}
