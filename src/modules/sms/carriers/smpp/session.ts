// A persistent SMPP 3.4 session with a carrier: bound as transceiver, kept alive by link checks, reconnected after every end with growing
// pauses.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pdu, Session } from 'smpp';
import type { Logger } from '../../../../core/process/logger.ts';
import { backoffMs } from '../../../../lib/backoff.ts';

export interface SessionOptions {
  readonly vendor: string;
  readonly url: string;
  readonly systemId: string;
  readonly systemType: string;
  readonly password: string;
  readonly log: Logger;
  /** What the carrier brings; it is acknowledged with the status that this answers. */
  receiveDelivery(pdu: Pdu): Promise<number>;
}

/** `lost`: it was written, and no answer came. `unsent`: nothing was written. */
export type Submitted =
  | { readonly kind: 'answered'; readonly pdu: Pdu }
  | { readonly kind: 'lost' }
  | { readonly kind: 'unsent' };

/** Why there is no session. */
export type Down = 'connecting' | 'refused' | 'stopped';

const BIND_MS = 10_000;
const ALIVE_MS = 30_000;
const ANSWER_MS = 10_000;
const UNBIND_MS = 1_000;
const BACKOFF = { firstMs: 500, maxMs: 60_000 };
const ESME_RSYSERR = 0x08;
const VERSION = 0x34;

export class SmppSession {
  readonly #options: SessionOptions;
  readonly #stopping = new AbortController();
  #bound: Session | null = null;
  #down: Down = 'connecting';
  /** Resolved whenever the session is bound. */
  #waiting: (() => void)[] = [];
  /** What waits for an answer ends with the session. */
  readonly #open = new Set<() => void>();
  readonly #life: Promise<void>;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#life = this.#live();
  }

  /** Null: it is bound. Waits for so long until it is. */
  async ready(withinMs: number): Promise<Down | null> {
    if (this.#bound === null && this.#down === 'connecting') {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await Promise.race([promise, sleep(withinMs, undefined, { ref: false })]);
    }
    return this.#bound === null ? this.#down : null;
  }

  /** Submits once, and waits for the answer. */
  submit(fields: Readonly<Record<string, unknown>>, withinMs: number): Promise<Submitted> {
    const session = this.#bound;
    if (session === null) return Promise.resolve({ kind: 'unsent' });
    return this.#ask(withinMs, (answered) => session.submit_sm(fields, answered));
  }

  async close(): Promise<void> {
    this.#down = 'stopped';
    this.#stopping.abort();
    const session = this.#bound;
    if (session !== null) {
      await this.#ask(UNBIND_MS, (answered) => session.unbind({}, answered));
      session.destroy();
    }
    await this.#life;
  }

  #ask(withinMs: number, write: (answered: (pdu: Pdu) => void) => boolean): Promise<Submitted> {
    return new Promise((resolve) => {
      const end = (came: Submitted) => {
        clearTimeout(timer);
        this.#open.delete(endLost);
        resolve(came);
      };
      const endLost = () => end({ kind: 'lost' });
      const timer = setTimeout(endLost, withinMs);
      this.#open.add(endLost);
      if (!write((pdu) => end({ kind: 'answered', pdu }))) end({ kind: 'unsent' });
    });
  }

  async #live(): Promise<void> {
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      const wasBound = await this.#session(signal);
      failures = wasBound ? 1 : failures + 1;
      await sleep(backoffMs(BACKOFF, failures), undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** One session from its connection to its end; whether it was bound. */
  async #session(signal: AbortSignal): Promise<boolean> {
    const { vendor, log, url } = this.#options;
    // 12 MB, and few services have a carrier.
    const { default: smpp } = await import('smpp');
    const session = smpp.connect({ url });
    const ended = new Promise<void>((resolve) => session.once('close', resolve));
    let fault: unknown = null;
    session.on('error', (error) => {
      fault = error;
      session.destroy();
    });
    session.on('deliver_sm', (pdu: Pdu) => void this.#acknowledge(session, pdu));
    session.on('enquire_link', (pdu: Pdu) => void session.send(pdu.response()));
    session.on('unbind', (pdu: Pdu) => {
      session.send(pdu.response());
      session.close();
    });
    const isBound = await this.#bind(session, ended);
    if (isBound) {
      log.info({ vendor }, 'the session to the carrier is bound');
      this.#bound = session;
      for (const resolve of this.#waiting.splice(0)) resolve();
    } else session.destroy();
    const alive = setInterval(() => void this.#checkLink(session), ALIVE_MS).unref();
    await ended;
    clearInterval(alive);
    this.#bound = null;
    for (const lost of this.#open) lost();
    if (!signal.aborted) log.warn({ err: fault, vendor }, 'the session to the carrier ended; it is opened again');
    return isBound;
  }

  async #bind(session: Session, ended: Promise<void>): Promise<boolean> {
    const { systemId, systemType, password, url, log, vendor } = this.#options;
    const connected = new Promise<void>((resolve) =>
      session.once(url.startsWith('ssmpp:') ? 'secureConnect' : 'connect', resolve),
    );
    const timeout = sleep(BIND_MS, 'late' as const, { ref: false });
    const opened = await Promise.race([
      connected.then(() => 'open' as const),
      ended.then(() => 'ended' as const),
      timeout,
    ]);
    if (opened !== 'open' || this.#stopping.signal.aborted) return false;
    const fields = { system_id: systemId, system_type: systemType, password, interface_version: VERSION };
    const came = await this.#ask(BIND_MS, (answered) => session.bind_transceiver(fields, answered));
    if (came.kind !== 'answered') return false;
    const { command_status: status } = came.pdu;
    // A refused login stays refused: whoever sends is told at once.
    if (this.#down !== 'stopped') this.#down = status === 0 ? 'connecting' : 'refused';
    if (status !== 0) log.error({ vendor, status: `0x${status.toString(16)}` }, 'the carrier refuses the login');
    return status === 0;
  }

  async #checkLink(session: Session): Promise<void> {
    const came = await this.#ask(ANSWER_MS, (answered) => session.enquire_link({}, answered));
    if (came.kind !== 'answered') session.destroy();
  }

  async #acknowledge(session: Session, pdu: Pdu): Promise<void> {
    let status = 0;
    try {
      status = await this.#options.receiveDelivery(pdu);
    } catch (err) {
      status = ESME_RSYSERR;
      this.#options.log.warn(
        { err, vendor: this.#options.vendor },
        'what a carrier brought could not be stored; it is asked to repeat it',
      );
    }
    session.send(pdu.response({ command_status: status }));
  }
}
