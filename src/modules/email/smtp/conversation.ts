// One SMTP connection and its permissions. Without a login it takes mail for this service's own recipients; after one, a mail is a call of
// email.send. Nothing else is relayed.

import type { Principal } from '../../../core/callers/principal.ts';
import { secretCredential } from '../../../core/credentials/credential.ts';
import type { ProtocolDoor } from '../../../kit/protocol-server.ts';
import type { FairPlaces } from '../../../lib/fair-places.ts';
import { newId } from '../../../lib/ids.ts';
import { isLoopback } from '../../../lib/loopback.ts';
import { fullReason } from '../inboxes/keep.ts';
import { RECIPIENTS_MAX as SENT_RECIPIENTS_MAX } from '../limits.ts';
import type { MailBytes } from '../receiving/mail-bytes.ts';
import { receive, traceOf } from '../receiving/receive.ts';
import type { Receiving } from '../receiving/receiving.ts';
import { type Recipient, recipientOf } from '../receiving/recipients.ts';
import { ClientDisconnected, type DataStream, takeData } from './data.ts';
import { MAILS_MAX, REFUSALS_MAX } from './limits.ts';
import { isProblem, loginReply, replyOf, replyToDelivery, SmtpReply } from './replies.ts';
import type { Submit } from './submission.ts';

/** What smtp-server knows of a connection. */
export interface Session {
  readonly id: string;
  readonly remoteAddress: string;
  readonly hostNameAppearsAs: string | false;
  readonly transmissionType: string;
  readonly secure: boolean;
  readonly envelope: {
    readonly mailFrom: { readonly address: string } | false;
    readonly rcptTo: readonly { readonly address: string }[];
  };
  /** After STARTTLS false: what was known before does not count. */
  readonly user?: Principal | false;
  disabledCommands?: string[];
}

export interface ConversationServices {
  readonly receiving: Receiving;
  readonly door: ProtocolDoor;
  readonly held: FairPlaces;
  readonly submit: Submit;
  readonly hasTls: boolean;
}

/** Commands that the library brings and nobody needs. */
const UNUSED = ['WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD', 'VRFY', 'EXPN', 'HELP'];

export class Conversation {
  readonly #services: ConversationServices;
  readonly #gone = new AbortController();
  #refusals = 0;
  #mails = 0;
  /** A mail is being taken. */
  isBusy = false;

  constructor(services: ConversationServices) {
    this.#services = services;
  }

  /** Which commands there are now: a login goes through TLS, or stays on this machine. */
  static allow(session: Session, hasTls: boolean): void {
    const mayLogIn = session.secure || isLoopback(session.remoteAddress);
    session.disabledCommands = [...UNUSED, ...(hasTls ? [] : ['STARTTLS']), ...(mayLogIn ? [] : ['AUTH'])];
  }

  /** Throws SmtpReply. */
  async login(password: string, { remoteAddress }: Session): Promise<Principal> {
    this.#requirePatience();
    try {
      return await this.#services.door.identify(secretCredential(password), remoteAddress);
    } catch (error) {
      if (!isProblem(error)) throw error;
      this.#refusals += 1;
      throw loginReply(error);
    }
  }

  requireMail(): void {
    this.#mails += 1;
    if (this.#mails > MAILS_MAX) throw new SmtpReply(421, 'Too many mails by one connection: open another one.');
  }

  /** Throws SmtpReply for a recipient that gets no mail by this connection. */
  async requireRecipient(address: string, { user, envelope }: Session): Promise<void> {
    if (isLoggedIn(user)) {
      if (envelope.rcptTo.length < SENT_RECIPIENTS_MAX) return;
      throw new SmtpReply(452, `A mail takes ${SENT_RECIPIENTS_MAX} recipients: send the rest by another one.`);
    }
    this.#requirePatience();
    const { receiving } = this.#services;
    const recipient = await recipientOf(receiving, address);
    if (recipient === null) {
      this.#refusals += 1;
      throw new SmtpReply(550, 'There is no such mailbox here, and mail for others is taken only after a login.');
    }
    const why = recipient.kind === 'inbox' ? await fullReason(receiving.core.db, recipient.inbox) : null;
    if (why !== null) throw new SmtpReply(452, `${why} Try again later.`);
  }

  /** Takes a mail; answers the words of its 250. Throws SmtpReply. */
  async take(stream: DataStream, session: Session): Promise<string> {
    this.isBusy = true;
    try {
      const { user, remoteAddress } = session;
      const sharer = isLoggedIn(user) ? user.accountId : remoteAddress;
      const held = await takeData(stream, sharer, this.#services.held);
      try {
        return isLoggedIn(user)
          ? await this.#submit(held.mail.received, session, user)
          : await this.#receive(held.mail, session);
      } finally {
        held.release();
      }
    } catch (error) {
      if (error === this.#gone.signal.reason) throw new ClientDisconnected('the client left before its reply');
      throw isProblem(error) ? replyOf(error) : error;
    } finally {
      this.isBusy = false;
    }
  }

  /** The client has left. */
  end(): void {
    this.#gone.abort();
  }

  async #receive(mail: MailBytes, session: Session): Promise<string> {
    const { receiving } = this.#services;
    const recipients: Recipient[] = [];
    for (const { address } of session.envelope.rcptTo) {
      const recipient = await recipientOf(receiving, address);
      if (recipient === null) throw new SmtpReply(550, 'There is no such mailbox here.');
      recipients.push(recipient);
    }
    const { remoteAddress: ip, hostNameAppearsAs, transmissionType, envelope } = session;
    const envelopeFrom = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    const origin = { ip, helo: hostNameAppearsAs || null, envelopeFrom };
    const id = newId('smtp_');
    const by = new URL(receiving.core.baseUrl).hostname;
    const trace = traceOf(origin, { by, protocol: transmissionType, id, atMs: Date.now() });
    const delivered = await receive(receiving, { mail, recipients, by: { origin }, trace, sharer: ip });
    const refusal = replyToDelivery(delivered);
    if (refusal !== null) throw refusal;
    return `Taken as ${id}`;
  }

  #submit(source: Buffer, { envelope, remoteAddress }: Session, principal: Principal): Promise<string> {
    const recipients = envelope.rcptTo.map(({ address }) => address);
    const { door, submit } = this.#services;
    return submit(door, { source, recipients, principal, remoteAddress, signal: this.#gone.signal });
  }

  #requirePatience(): void {
    if (this.#refusals >= REFUSALS_MAX) throw new SmtpReply(421, 'Too many refusals.');
  }
}

function isLoggedIn(user: Principal | false | undefined): user is Principal {
  return user !== undefined && user !== false;
}
