// An attacker in a process of its own: many connections that call without a pause, or write and never read. Whoever is cut off comes
// again. Bounded in time; tells at the end what it saw.
import { hash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { get, ResponseReader } from '../support/load.ts';
import { Line } from './line.ts';

export interface AttackOrder {
  readonly url: string;
  readonly seconds: number;
  readonly connections: number;
  /** One connection after the other is opened; 50 µs apart unless said otherwise. */
  readonly apartMs?: number;
  /** Connection i comes from address i, round and round. */
  readonly addresses: readonly string[];
  /**
   * `calls`: one call after the other; `floods`: calls at `perSecond`, up to eight behind one another on a connection, whatever comes
   * back; `holds`: writes once, reads what comes and waits; `unread`: writes once and never reads; `talks`: sends all requests in order, each
   * behind an answer, as SMTP has it, and comes again.
   */
  readonly manner: 'calls' | 'floods' | 'holds' | 'unread' | 'talks';
  /** Of all connections of a flood together. */
  readonly perSecond?: number;
  /** Connection i sends request i, then the next one, round and round; `forged`: each call has a new key that is none. */
  readonly requests: readonly Buffer[] | 'forged';
}

export interface AttackReport {
  readonly opened: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Of answers with status 200, ms. */
  readonly times: readonly number[];
}

const APART_MS = 0.05;
const COME_AGAIN_MS = 50;
const PROBE_MS = 500;
const FLOOD_TICK_MS = 100;
const FLOOD_DEPTH = 8;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

class Attack {
  readonly #order: AttackOrder;
  readonly #statuses: Record<string, number> = {};
  readonly #times: number[] = [];
  readonly #endMs: number;
  #opened = 0;

  constructor(order: AttackOrder) {
    this.#order = order;
    this.#endMs = performance.now() + order.seconds * 1000;
  }

  async run(): Promise<AttackReport> {
    const { connections, manner, apartMs = APART_MS } = this.#order;
    const one = (index: number) => {
      if (manner === 'calls') return this.#call(index);
      if (manner === 'talks') return this.#talk(index);
      return manner === 'floods' ? this.#flood(index) : this.#sit(index);
    };
    await Promise.all(
      Array.from({ length: connections }, async (_, index) => {
        await sleep(index * apartMs);
        while (!this.#isOver) {
          this.#opened += 1;
          await one(index);
          await sleep(COME_AGAIN_MS);
        }
      }),
    );
    return { opened: this.#opened, statuses: this.#statuses, times: this.#times };
  }

  get #isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  get #leftMs(): number {
    return Math.max(0, this.#endMs - performance.now());
  }

  #request(turn: number): Buffer {
    const { requests, url } = this.#order;
    if (requests === 'forged') return get(url, '/v1/account/tier', forgedSecret());
    return requests[turn % requests.length] as Buffer;
  }

  #address(index: number): string {
    const { addresses } = this.#order;
    return addresses[index % addresses.length] as string;
  }

  #count(status: number): void {
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
  }

  /** Calls until the time is over or the connection ends. */
  async #call(index: number): Promise<void> {
    const line = new Line(this.#order.url, this.#address(index));
    const timer = setTimeout(() => line.end(), this.#leftMs);
    for (let turn = index; line.isOpen; turn += 1) {
      const sentMs = performance.now();
      const answer = await line.call(this.#request(turn));
      if (answer === null) break;
      this.#count(answer.status);
      if (answer.status === 200) this.#times.push(performance.now() - sentMs);
    }
    clearTimeout(timer);
  }

  /** Calls at its pace until the time is over or the connection ends, as far as not too many are unanswered. */
  #flood(index: number): Promise<void> {
    const { connections, perSecond = 0 } = this.#order;
    const perTick = (perSecond / connections / 1000) * FLOOD_TICK_MS;
    const sentMs: number[] = [];
    let due = Math.random() * perTick;
    return new Promise((resolve) => {
      const socket = this.#connect(index);
      const reader = new ResponseReader((status) => {
        const tookMs = performance.now() - (sentMs.shift() as number);
        this.#count(status);
        if (status === 200) this.#times.push(tookMs);
      });
      socket.on('data', (chunk: Buffer) => reader.add(chunk));
      const ticks = setInterval(() => {
        due += perTick;
        const count = Math.min(Math.floor(due), FLOOD_DEPTH - sentMs.length);
        due -= Math.floor(due);
        if (count <= 0) return;
        for (let n = 0; n < count; n += 1) sentMs.push(performance.now());
        socket.write(Buffer.concat(Array.from({ length: count }, () => this.#request(index))));
      }, FLOOD_TICK_MS);
      const timer = setTimeout(() => socket.destroy(), this.#leftMs);
      socket.once('close', () => {
        clearInterval(ticks);
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #connect(index: number): Socket {
    const { port, hostname } = new URL(this.#order.url);
    const socket = connect({ port: Number(port), host: hostname, localAddress: this.#address(index), noDelay: true });
    return socket.on('error', () => socket.destroy());
  }

  /** One conversation, until all is sent or the other side ends it. Counts the code of each last line. */
  #talk(index: number): Promise<void> {
    const requests = this.#order.requests as readonly Buffer[];
    return new Promise((resolve) => {
      const socket = this.#connect(index);
      const timer = setTimeout(() => socket.destroy(), this.#leftMs);
      let sent = 0;
      let said = '';
      socket.on('data', (chunk: Buffer) => {
        said += chunk.toString('latin1');
        const [, code] = /^(\d{3}) [^\n]*\n$/m.exec(said) ?? [];
        if (code === undefined) return;
        this.#count(Number(code));
        said = '';
        const next = requests[sent];
        sent += 1;
        if (next === undefined) socket.end();
        else socket.write(next);
      });
      socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Writes once, then waits until the time is over or the connection ends. */
  #sit(index: number): Promise<void> {
    const { manner } = this.#order;
    return new Promise((resolve) => {
      const socket = this.#connect(index);
      // A socket that is not read does not hear that it has been closed: an empty line, which HTTP ignores, does.
      const probe = manner === 'unread' ? setInterval(() => socket.write('\r\n'), PROBE_MS) : undefined;
      const timer = setTimeout(() => socket.destroy(), this.#leftMs);
      if (manner === 'unread') socket.pause();
      else socket.once('data', (chunk: Buffer) => this.#count(Number(chunk.toString('latin1', 9, 12))));
      socket.write(this.#request(index));
      socket.once('close', () => {
        clearInterval(probe);
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

let forged = 0;

/** Has the form of a key, with the checksum that anybody could compute from a published source. */
function forgedSecret(): string {
  forged += 1;
  const body = `qm_live_${String(process.pid).padStart(8, '0')}${String(forged).padStart(32, '0')}`;
  let value = hash('sha256', `quartermaster-key:${body}`, 'buffer').readUIntBE(0, 6) % 62 ** 6;
  let checksum = '';
  for (let i = 0; i < 6; i += 1) {
    checksum += ALPHABET.charAt(value % 62);
    value = Math.floor(value / 62);
  }
  return body + checksum;
}

process.on('message', (order: AttackOrder) => {
  void new Attack(order).run().then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
