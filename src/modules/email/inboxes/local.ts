// Delivery of mail between accounts of this service, without a relay.

import { domainOf } from '../addresses.ts';
import { domainStanding } from '../domains/may-send.ts';
import type { MailAuth } from '../receiving/auth.ts';
import { MailBytes } from '../receiving/mail-bytes.ts';
import { receive, traceOf } from '../receiving/receive.ts';
import type { Receiving } from '../receiving/receiving.ts';
import { mayReceive } from '../receiving/recipients.ts';
import { type InboxRef, inboxesOf } from './inboxes.ts';

export interface LocalMail extends InboxRef {
  readonly address: string;
  /** As a relay would get it, signed. */
  readonly source: Buffer;
  readonly envelopeFrom: string;
  /** Account that sends it. */
  readonly senderId: string;
}

/** `deferred`: its inbox is full for now. `refused`: it has no such inbox any more, or the mail goes in circles. */
export type LocalOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'deferred' | 'refused'; readonly code: string; readonly detail: string };

/** This service has signed it, for a domain that its sender has proved, and nobody else has had it. */
const PROVED: MailAuth = { spf: 'pass', dkim: 'pass', dmarc: 'pass' };
/** Of a reserved name, or a domain that every account may send from: nothing says who sends. */
const NOT_PROVED: MailAuth = { spf: 'none', dkim: 'none', dmarc: 'none' };

/** Delivery to inboxes of this service. */
export function localDelivery(receiving: Receiving) {
  return {
    /** Inboxes that take mail now, by address in lower case. */
    async inboxesOf(addresses: readonly string[]): Promise<ReadonlyMap<string, InboxRef>> {
      const { db } = receiving.core;
      const found = await inboxesOf(db, addresses);
      for (const [address, { accountId }] of found)
        if (!(await mayReceive(db, accountId, domainOf(address)))) found.delete(address);
      return found;
    },
    /** Keeps a mail in an inbox, once however often it is called within a day. */
    deliver: (mail: LocalMail) => deliver(receiving, mail),
  };
}

async function deliver(receiving: Receiving, mail: LocalMail): Promise<LocalOutcome> {
  const { accountId, inboxId, address, source, envelopeFrom, senderId } = mail;
  const by = new URL(receiving.core.baseUrl).hostname;
  const at = { by, protocol: 'LMTP', id: inboxId, atMs: Date.now() };
  const trace = traceOf({ ip: null, helo: null, envelopeFrom }, at);
  const recipients = [{ kind: 'inbox', address, inbox: { accountId, inboxId } } as const];
  const domain = domainOf(envelopeFrom).toLowerCase();
  const standing = await domainStanding(receiving.core.db, senderId, domain, { trustedDomains: [] });
  const auth = standing === 'verified' ? PROVED : NOT_PROVED;
  const taken = await MailBytes.of(source);
  const [outcome] = await receive(receiving, {
    mail: taken,
    recipients,
    by: { auth },
    trace,
    sharer: accountId,
  });
  switch (outcome?.kind) {
    case 'kept':
    case 'known':
      return { kind: 'delivered' };
    case 'full':
      return { kind: 'deferred', code: '4.2.2', detail: outcome.why };
    case 'looping':
      return {
        kind: 'refused',
        code: '5.4.6',
        detail: 'The mail has passed more than 25 servers: it goes in circles.',
      };
    default:
      return { kind: 'refused', code: '5.1.1', detail: 'There is no such inbox.' };
  }
}
