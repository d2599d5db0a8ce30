// A carrier that speaks SMPP, by the server of the smpp package: it takes logins and messages as it is told, and sends receipts and messages.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import smpp, { type Pdu, type Server, type Session } from 'smpp';
import { SECRET } from './harness.ts';

export const OURS = '+12025550100';

/** Its entry in the file of vendors. */
export const entryOf = ({ port }: SmppDouble, over: object = {}) => ({
  id: 'carrier',
  adapter: 'smpp',
  url: `smpp://127.0.0.1:${port}`,
  system_id: 'acme',
  password: SECRET,
  from: [OURS, '12345', 'ACME'],
  price: 0.004,
  window: 4,
  ...over,
});

/** What it answers a submit: a status, or nothing at all; `hang up`: it ends the connection. */
export type Submitted = { readonly status?: number; readonly id?: string } | 'silence' | 'hang up';

export class SmppDouble {
  readonly submits: Pdu[] = [];
  readonly binds: Pdu[] = [];
  /** The session that is bound. */
  session: Session | null = null;
  enquiries = 0;
  /** Submits that wait for their answer. */
  waiting = 0;
  waitingMost = 0;
  bindStatus = 0;
  answer: (pdu: Pdu) => Submitted | Promise<Submitted> = () => ({});
  readonly #server: Server;
  #made = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(tls: { readonly key?: string; readonly cert?: string } = {}): Promise<SmppDouble> {
    let double: SmppDouble;
    const server = smpp.createServer(tls, (session) => double.#take(session));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    double = new SmppDouble(server);
    return double;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #take(session: Session): void {
    session.on('error', () => session.destroy());
    session.on('bind_transceiver', (pdu: Pdu) => {
      this.binds.push(pdu);
      const status = pdu.password === SECRET ? this.bindStatus : 0x0e;
      session.send(pdu.response({ command_status: status }));
      if (status === 0) this.session = session;
    });
    session.on('enquire_link', (pdu: Pdu) => {
      this.enquiries += 1;
      session.send(pdu.response());
    });
    session.on('unbind', (pdu: Pdu) => {
      session.send(pdu.response());
      session.close();
    });
    session.on('submit_sm', (pdu: Pdu) => void this.#submitted(session, pdu));
    session.on('close', () => {
      if (this.session === session) this.session = null;
    });
  }

  async #submitted(session: Session, pdu: Pdu): Promise<void> {
    this.submits.push(pdu);
    this.waiting += 1;
    this.waitingMost = Math.max(this.waitingMost, this.waiting);
    const said = await this.answer(pdu);
    this.waiting -= 1;
    if (said === 'silence') return;
    if (said === 'hang up') return session.destroy();
    this.#made += 1;
    const fields = { command_status: said.status ?? 0, message_id: said.id ?? `m${this.#made}` };
    session.send(pdu.response(fields));
  }

  /** Sends it on the bound session, and answers the status that it was acknowledged with. */
  deliver(fields: Readonly<Record<string, unknown>>): Promise<number> {
    const { session } = this;
    if (session === null) throw new Error('nobody is bound');
    return new Promise((resolve) => session.deliver_sm(fields, (pdu) => resolve(pdu.command_status)));
  }

  /** A receipt as carriers write it (SMPP 3.4, appendix B). */
  receipt(id: string, stat: string, over: object = {}, err = '000'): Promise<number> {
    const text = `id:${id} sub:001 dlvrd:001 submit date:2611271200 done date:2611271201 stat:${stat} err:${err} text:Hello`;
    return this.deliver({
      esm_class: 0x04,
      source_addr: '12025550123',
      destination_addr: '12025550100',
      short_message: text,
      ...over,
    });
  }

  async close(): Promise<void> {
    for (const session of this.#server.sessions) session.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
