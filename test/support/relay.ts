// A relay of mail: a real SMTP server that keeps what it is given, and fails as it is told.
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface RelayedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
}

/** What the relay says in place of 250: to a recipient, or to the mail once it has it. `hang`: nothing, `cut`: the connection ends. */
export type RelayFault = { readonly code: number; readonly text: string } | 'hang' | 'cut';

export interface TestRelay {
  readonly port: number;
  /** For SMTP_URL. */
  readonly url: string;
  readonly mails: RelayedMail[];
  /** By recipient. */
  readonly refused: Map<string, RelayFault>;
  /** Of the next mails, in their order, once they are handed over. */
  readonly faults: RelayFault[];
  /** Connections made so far. */
  connections: number;
  stop(): Promise<void>;
}

export async function startRelay(options: SMTPServerOptions & { readonly port?: number } = {}): Promise<TestRelay> {
  const mails: RelayedMail[] = [];
  const faults: RelayFault[] = [];
  const refused = new Map<string, RelayFault>();
  const failure = ({ code, text: message }: Exclude<RelayFault, string>) =>
    Object.assign(new Error(message), { responseCode: code });
  let connections = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    closeTimeout: 100,
    onConnect(_session, done) {
      connections += 1;
      done();
    },
    onRcptTo({ address }, _session, done) {
      const fault = refused.get(address);
      if (fault === undefined) return done();
      if (typeof fault === 'object') done(failure(fault));
    },
    onData(stream, session, done) {
      const takeMail = (source: string) => {
        const fault = faults.shift();
        if (fault === 'hang') return;
        if (fault === 'cut') return disconnect(session.id);
        if (fault !== undefined) return done(failure(fault));
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        mails.push({ from, to: rcptTo.map(({ address }) => address), source });
        done();
      };
      // A sender that dies meanwhile has handed nothing over.
      text(stream).then(takeMail, () => undefined);
    },
    ...options,
  });
  server.on('error', () => undefined);
  const disconnect = (id: string) => {
    for (const connection of server.connections as unknown as Set<{ id: string; _socket: { destroy(): void } }>) {
      if (connection.id === id) connection._socket.destroy();
    }
  };
  await new Promise<void>((listening) => void server.listen(options.port ?? 0, '127.0.0.1', listening));
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');
  return {
    port: address.port,
    url: `smtp://127.0.0.1:${address.port}`,
    mails,
    faults,
    refused,
    get connections() {
      return connections;
    },
    stop: () => new Promise((stopped) => void server.close(stopped)),
  };
}
