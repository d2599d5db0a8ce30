// Twilio as its documentation describes it: messages by REST, status callbacks and messages of people signed with the account's token.
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SECRET } from './harness.ts';

export const ACCOUNT_SID = `AC${'0123456789abcdef'.repeat(2)}`;

/** What it answers; `hang`: it takes the message and never answers. */
export type TwilioAnswer = { readonly status: number; readonly json: object } | 'hang' | 'reset';

export class TwilioDouble {
  readonly messages: URLSearchParams[] = [];
  readonly authorizations: (string | undefined)[] = [];
  readonly url: string;
  answer: (form: URLSearchParams) => TwilioAnswer = () => this.accepted();
  readonly #server: Server;
  #made = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(): Promise<TwilioDouble> {
    let double: TwilioDouble;
    const server = createServer(async (request, reply) => {
      const form = new URLSearchParams(await text(request));
      if (request.url !== `/2010-04-01/Accounts/${ACCOUNT_SID}/Messages.json`) return void reply.writeHead(404).end();
      double.messages.push(form);
      double.authorizations.push(request.headers.authorization);
      const said = double.answer(form);
      if (said === 'hang') return;
      if (said === 'reset') return void request.socket.destroy();
      reply.writeHead(said.status, { 'content-type': 'application/json' }).end(JSON.stringify(said.json));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    double = new TwilioDouble(server);
    return double;
  }

  accepted(): TwilioAnswer {
    this.#made += 1;
    return {
      status: 201,
      json: { sid: `SM${String(this.#made).padStart(32, '0')}`, status: 'queued', error_code: null },
    };
  }

  refused(status: number, code: number, message: string): TwilioAnswer {
    return { status, json: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status } };
  }

  /** Calls back as Twilio does; answers the status. `token`: another one than the account's. */
  async callBack(url: string, fields: Readonly<Record<string, string>>, token = SECRET): Promise<number> {
    const signed =
      url +
      Object.keys(fields)
        .sort()
        .map((name) => name + fields[name])
        .join('');
    const signature = createHmac('sha1', token).update(signed).digest('base64');
    const reply = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature },
      body: new URLSearchParams(fields),
    });
    return reply.status;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
