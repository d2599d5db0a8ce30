// Links sent by mail: their tokens, stored as hashes, and limits on mails to one mailbox and on requests from one network.
import { createHash, randomBytes } from 'node:crypto';
import type { Queryable } from '../../db/database.ts';
import { HOUR_MS } from '../../lib/time.ts';
import { problem } from '../../problems/problem.ts';
import { normalisedAddress, wideNetworkOf } from '../addresses.ts';
import { ask } from '../asked.ts';

const MAILS_TO_MAILBOX = { times: 5, windowMs: HOUR_MS };
const MAILS_FROM_NETWORK = { times: 20, windowMs: HOUR_MS };
const TOKEN = /^[0-9A-Za-z_-]{43}$/;

/** 256 random bits. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Counts a mail to the address from the network. Throws RATE_LIMITED beyond 5 an hour to a mailbox, and 20 from a network. */
export async function requireMail(db: Queryable, email: string, remoteAddress: string, nowMs: number): Promise<void> {
  const network = wideNetworkOf(remoteAddress);
  const ofNetwork = network === null ? 0 : await ask(db, `mail from ${network}`, MAILS_FROM_NETWORK, nowMs);
  // Dots and +tags make further addresses of one mailbox.
  const mailbox = normalisedAddress(email) ?? email;
  const retryAfterMs = ofNetwork > 0 ? ofNetwork : await ask(db, `mail to ${mailbox}`, MAILS_TO_MAILBOX, nowMs);
  if (retryAfterMs > 0)
    throw problem('RATE_LIMITED', { message: 'Too many mails were asked for. Try again later.', retryAfterMs });
}
