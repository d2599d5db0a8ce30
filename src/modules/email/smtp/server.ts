// The SMTP port: mail from anyone for this service's own recipients, and outgoing mail of programs that log in with an API key. Loaded when
// SMTP_PORT is set.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { SMTPServer } from 'smtp-server';
import { StartupError } from '../../../db/errors.ts';
import type { ListenAt, ProtocolDoor, ProtocolServer } from '../../../kit/protocol-server.ts';
import type { Services } from '../../../kit/services.ts';
import { FairPlaces } from '../../../lib/fair-places.ts';
import { RECEIVED_BYTES_MAX } from '../inboxes/limits.ts';
import type { Receiving } from '../receiving/receiving.ts';
import { Conversation, type ConversationServices, type Session } from './conversation.ts';
import { ClientDisconnected, type DataStream } from './data.ts';
import { readMailByPieces } from './data-mode.ts';
import {
  CLOSE_MS,
  COMMAND_BYTES_MAX,
  CONNECTION_MS,
  CONNECTIONS_MAX,
  CONNECTIONS_OF_ADDRESS_MAX,
  DATA_MS,
  HELD_BYTES_MAX,
  RECIPIENTS_MAX,
  SILENCE_MS,
} from './limits.ts';
import { internalFailure, SmtpReply } from './replies.ts';
import type { Submit } from './submission.ts';

type Callback<Value = unknown> = (error?: Error | null, value?: Value) => void;

interface Guest {
  readonly conversation: Conversation;
  readonly timer: NodeJS.Timeout;
}

/** Throws StartupError where the certificate cannot be read. */
export async function openSmtp(receiving: Receiving, door: ProtocolDoor, submit: Submit): Promise<ProtocolServer> {
  const { core, settings } = receiving;
  const tls = settings.tls === null ? null : await certificateOf(settings.tls);
  readMailByPieces();
  const held = new FairPlaces(Math.ceil(HELD_BYTES_MAX / core.bounds.processes));
  return new SmtpPort({ receiving, door, submit, held, hasTls: tls !== null }, tls);
}

async function certificateOf({ certFile, keyFile }: { readonly certFile: string; readonly keyFile: string }) {
  const readPem = async (name: string, path: string) => {
    try {
      return await readFile(path);
    } catch (error) {
      throw new StartupError(`${name}: ${path} cannot be read: ${(error as Error).message}`);
    }
  };
  return { cert: await readPem('SMTP_TLS_CERT', certFile), key: await readPem('SMTP_TLS_KEY', keyFile) };
}

class SmtpPort implements ProtocolServer {
  readonly #services: ConversationServices;
  readonly #core: Services;
  readonly #server: SMTPServer;
  readonly #guests = new Map<string, Guest>();

  constructor(services: ConversationServices, tls: { readonly cert: Buffer; readonly key: Buffer } | null) {
    this.#services = services;
    this.#core = services.receiving.core;
    const connectionsMax = Math.ceil(CONNECTIONS_MAX / this.#core.bounds.processes);
    this.#server = new SMTPServer({
      ...(tls === null ? { hideSTARTTLS: true } : tls),
      name: new URL(this.#core.baseUrl).hostname,
      banner: 'Quartermaster',
      logger: false,
      disableReverseLookup: true,
      // Conversation.allow says where a login is: without TLS on this machine alone.
      authOptional: true,
      allowInsecureAuth: true,
      authMethods: ['PLAIN', 'LOGIN'],
      size: RECEIVED_BYTES_MAX,
      maxRecipients: RECIPIENTS_MAX,
      maxCommandLength: COMMAND_BYTES_MAX,
      hideENHANCEDSTATUSCODES: false,
      maxClients: connectionsMax,
      socketTimeout: SILENCE_MS,
      closeTimeout: CLOSE_MS,
      onConnect: (session, done) => void replyWith(this.#admit(session as Session), done, this.#core),
      onSecure: (_socket, session, done) => {
        Conversation.allow(session as Session, true);
        done();
      },
      onAuth: ({ password }, session, done) => {
        const login = async () => ({
          user: await this.#guest(session as Session).login(password ?? '', session as Session),
        });
        void replyWith(login(), done as Callback, this.#core);
      },
      onMailFrom: (_address, session, done) => {
        const mail = async () => this.#guest(session as Session).requireMail();
        void replyWith(mail(), done, this.#core);
      },
      onRcptTo: ({ address }, session, done) => {
        const requireRecipient = async () =>
          this.#guest(session as Session).requireRecipient(address, session as Session);
        void replyWith(requireRecipient(), done, this.#core);
      },
      onData: (stream, session, done) => {
        void replyWith(this.#take(stream as unknown as DataStream, session as Session), done as Callback, this.#core);
      },
      onClose: (session) => this.#release(session as Session),
    });
    this.#server.server.maxConnections = connectionsMax * 2;
    // Of connections: their clients have left, or spoke no TLS. Of the port: `listen` is told.
    this.#server.on('error', (error: Error) => this.#core.log.debug({ err: error }, 'a connection of SMTP failed'));
  }

  async listen({ host, port, backlog, reusePort }: ListenAt): Promise<void> {
    const { server } = this.#server;
    server.listen({ host, port, backlog, reusePort });
    await once(server, 'listening');
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(resolve));
    for (const connection of this.#server.connections) {
      if (this.#guests.get(connection.id)?.conversation.isBusy !== true) connection.send(421, 'The service stops.');
    }
    await closed;
    for (const { conversation } of this.#guests.values()) conversation.end();
  }

  async #admit(session: Session): Promise<void> {
    const { id, remoteAddress } = session;
    Conversation.allow(session, this.#services.hasTls);
    if (!(await this.#core.underWay.begin(placeOf(remoteAddress), CONNECTIONS_OF_ADDRESS_MAX))) {
      throw new SmtpReply(421, 'Too many connections from this address.');
    }
    const timer = setTimeout(() => this.#end(session, 'The connection has lasted an hour.'), CONNECTION_MS).unref();
    this.#guests.set(id, { conversation: new Conversation(this.#services), timer });
  }

  #release({ id, remoteAddress }: Session): void {
    const guest = this.#guests.get(id);
    if (guest === undefined) return;
    this.#guests.delete(id);
    clearTimeout(guest.timer);
    guest.conversation.end();
    this.#core.underWay.end(placeOf(remoteAddress));
  }

  #guest({ id }: Session): Conversation {
    const guest = this.#guests.get(id);
    if (guest === undefined) throw new SmtpReply(421, 'The connection is over.');
    return guest.conversation;
  }

  async #take(stream: DataStream, session: Session): Promise<string> {
    const late = setTimeout(() => this.#end(session, 'The mail took too long.'), DATA_MS).unref();
    stream.once('end', () => clearTimeout(late));
    try {
      return await this.#guest(session).take(stream, session);
    } finally {
      clearTimeout(late);
    }
  }

  #end({ id }: Session, why: string): void {
    for (const connection of this.#server.connections) if (connection.id === id) connection.send(421, why);
  }
}

function placeOf(address: string): string {
  return `smtp ${address}`;
}

/** Gives the library what became of it; a 421 ends the connection. What is nobody's reply is logged, and the client is to try again. */
async function replyWith<Value>(
  work: Promise<Value>,
  done: Callback<Value>,
  { log }: Pick<Services, 'log'>,
): Promise<void> {
  let value: Value;
  try {
    value = await work;
  } catch (error) {
    if (error instanceof SmtpReply) return done(error);
    if (error instanceof ClientDisconnected) {
      log.debug({ err: error }, 'a client of SMTP has left');
      return done(internalFailure);
    }
    log.error({ err: error }, 'a mail could not be taken');
    return done(internalFailure);
  }
  done(null, value);
}
