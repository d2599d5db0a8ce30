// A service with its SMTP port and a name server of the test's own, and how tests of received mail speak to it: as foreign servers do, by
// nodemailer, or byte by byte.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import nodemailer from 'nodemailer';
import { pino } from 'pino';
import { type NameServer, startNameServer } from '../support/name-server.ts';

import { freePort } from '../support/process.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

export interface ReceivingBench {
  readonly test: TestService;
  readonly names: NameServer;
  readonly smtpPort: number;
  owner(usd?: number): Promise<InboxOwner>;
  stop(): Promise<void>;
}

export interface InboxOwner {
  readonly accountId: string;
  readonly secret: string;
  readonly call: Client;
  /** Answers `data`; throws what is no 200. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  data(method: string, path: string, body?: unknown): Promise<any>;
  /** Answers its id. */
  inbox(address: string, queue?: string): Promise<string>;
}

/** `log`: what the service tells of warnings and failures is added to it. */
export async function startReceivingBench(env: Record<string, string> = {}, log?: string[]): Promise<ReceivingBench> {
  const names = await startNameServer();
  const smtpPort = await freePort();
  const settings = {
    DNS_RESOLVERS: names.address,
    SMTP_PORT: String(smtpPort),
    EMAIL_BOUNCE_DOMAIN: 'bounces.ours.test',
  };
  const test = await startTestService({
    env: { ...settings, ...env },
    ...(log === undefined ? {} : { log: pino({ level: 'warn' }, { write: (line: string) => void log.push(line) }) }),
  });
  return {
    test,
    names,
    smtpPort,
    async owner(usd = 100) {
      const { accountId, secret } = await createTestAccount(test.core, usd);
      const call = client(test.url, secret);
      const data = async (method: string, path: string, body?: unknown) => {
        const reply = await call(method, path, body);
        if (reply.status !== 200) throw new Error(`${path}: ${reply.text}`);
        return reply.body.data;
      };
      return {
        accountId,
        secret,
        call,
        data,
        inbox: async (address, queue) =>
          (await data('POST', '/v1/email/inbox/create', { address, ...(queue === undefined ? {} : { queue }) }))
            .inbox_id,
      };
    },
    async stop() {
      await test.stop();
      await names.stop();
    },
  };
}

export interface SentBySmtp {
  readonly from: string;
  readonly to: string | readonly string[];
  readonly raw: string | Buffer;
}

/** As another mail server hands it over. Throws with the `responseCode` of a refusal. */
export async function handOver(port: number, { from, to, raw }: SentBySmtp): Promise<string> {
  const transport = nodemailer.createTransport({ host: '127.0.0.1', port, name: 'mx.far.test', ignoreTLS: true });
  try {
    const sent = await transport.sendMail({ envelope: { from, to: [to].flat() as string[] }, raw });
    return sent.response;
  } finally {
    transport.close();
  }
}

/** The code with which a mail was refused; 250: it was not. */
export async function codeOf(work: Promise<unknown>): Promise<number> {
  try {
    await work;
    return 250;
  } catch (error) {
    return (error as { responseCode?: number }).responseCode ?? 0;
  }
}

/** A conversation byte by byte. */
export class RawSmtp {
  readonly socket: Socket;
  #said = '';
  #ended = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#said += text;
    });
    socket.on('close', () => {
      this.#ended = true;
    });
    socket.on('error', () => undefined);
  }

  static async open(port: number, host = '127.0.0.1'): Promise<RawSmtp> {
    const socket = connect(port, host);
    await once(socket, 'connect');
    const smtp = new RawSmtp(socket);
    await smtp.replies(1);
    return smtp;
  }

  write(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Sends a line and answers the reply to it. */
  async say(line: string): Promise<string> {
    this.write(`${line}\r\n`);
    return (await this.replies(1))[0] as string;
  }

  /** The next replies, each whole; fewer where the connection ends. */
  async replies(count: number): Promise<string[]> {
    const replies: string[] = [];
    while (replies.length < count) {
      const found = /^(?:\d{3}-[^\n]*\n)*\d{3} [^\n]*\n/.exec(this.#said);
      if (found !== null) {
        this.#said = this.#said.slice(found[0].length);
        replies.push(found[0].trimEnd());
      } else if (this.#ended) break;
      else await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return replies;
  }

  async ended(): Promise<void> {
    while (!this.#ended) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  close(): void {
    this.socket.destroy();
  }
}

export const mailText = (fields: Record<string, string>, body = 'Hello') =>
  [...Object.entries(fields).map(([name, value]) => `${name}: ${value}`), '', body, ''].join('\r\n');
