// Mail between accounts of this service: it is delivered here, without a relay.
import type { MailAuth } from '../receiving/auth.ts';
import { receive, traceOf } from '../receiving/receive.ts';
import type { Receiving } from '../receiving/receiving.ts';
import type { InboxRef } from './inboxes.ts';

export { inboxesOf } from './inboxes.ts';

export interface LocalMail extends InboxRef {
  readonly address: string;
  readonly source: Buffer;
  readonly envelopeFrom: string;
  /** What this service knows of the sender. */
  readonly auth: MailAuth;
}

/** `deferred`: its inbox is full for now. `refused`: it has no such inbox any more, or the mail goes in circles. */
export type LocalOutcome =
  | { readonly kind: 'delivered'; readonly inboundId: string }
  | { readonly kind: 'deferred' | 'refused'; readonly code: string; readonly detail: string };

/** In the order of the mails, each of which is committed by itself. */
export async function deliverLocally(receiving: Receiving, mails: readonly LocalMail[]): Promise<LocalOutcome[]> {
  const outcomes: LocalOutcome[] = [];
  for (const mail of mails) outcomes.push(await deliverOne(receiving, mail));
  return outcomes;
}

async function deliverOne(receiving: Receiving, mail: LocalMail): Promise<LocalOutcome> {
  const { accountId, inboxId, address, source, envelopeFrom, auth } = mail;
  const by = new URL(receiving.core.baseUrl).hostname;
  const trace = traceOf(
    { ip: null, helo: null, envelopeFrom },
    { by, protocol: 'LMTP', id: inboxId, atMs: Date.now() },
  );
  const recipients = [{ kind: 'inbox', address, inbox: { accountId, inboxId } } as const];
  const [outcome] = await receive(receiving, { source, recipients, by: { auth }, trace, sharer: accountId });
  switch (outcome?.kind) {
    case 'kept':
    case 'known':
      return { kind: 'delivered', inboundId: outcome.inboundId };
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
