// The relays of this process, each with a bounded pool of sessions that are kept for the next mail and shared in turns by account. No relay
// waits for another.
import { AccountPlaces } from '../../../core/account-places.ts';
import type { Services } from '../../../kit/services.ts';
import type { CallOutcome } from '../../../routing/health.ts';
import type { Vendor } from '../../../vendors/file/port.ts';
import { ATTEMPTS_AT_ONCE } from '../limits.ts';
import { SMTP } from '../vendors/family.ts';
import { type Envelope, type HandOver, type Reply, SmtpSession } from '../vendors/smtp.ts';

export const OUTBOX = 'outbox';
const CAPABILITY = 'email.send';
/** A session without mail is closed. */
const IDLE_MS = 15_000;
const IDLE_LOOK_MS = 5_000;
/** Of one relay, where its entry does not say. */
const SESSIONS_MAX = 20;

const fine: CallOutcome = { breaker: { kind: 'none' }, reason: null };
const gone: CallOutcome = { breaker: { kind: 'none' }, reason: null, isUnknown: true };

/** `mark` is called once there is a session: false, and nothing is handed over. */
export type Mark = () => Promise<boolean>;

export type Relayed = HandOver | { readonly kind: 'unmarked' } | { readonly kind: 'down'; readonly reply: Reply };

export class Relay {
  readonly #core: Pick<Services, 'vendors'>;
  readonly vendor: Vendor;
  readonly #url: string;
  readonly #name: string;
  readonly #places: AccountPlaces;
  readonly #sessionsMax: number;
  readonly #idle: SmtpSession[] = [];
  #used = 0;

  constructor(
    core: Pick<Services, 'vendors'>,
    vendor: Vendor,
    url: string,
    { name, sessionsMax }: { name: string; sessionsMax: number },
  ) {
    this.#core = core;
    this.vendor = vendor;
    this.#url = url;
    this.#name = name;
    this.#sessionsMax = Math.min(vendor.limits.concurrent ?? SESSIONS_MAX, sessionsMax);
    this.#places = new AccountPlaces(this.#sessionsMax, { alone: 'all' });
  }

  /** Whether each of its sessions has something to do: background work goes on with other relays. */
  get isBusy(): boolean {
    return this.#used >= this.#sessionsMax;
  }

  /** It has failed before, and is left alone. */
  get isDown(): boolean {
    return this.#core.vendors.health.downFor(this.vendor.id, CAPABILITY) !== null;
  }

  /** Throws CONCURRENCY_LIMITED and OVERLOADED where too many wait. */
  async handOver(accountId: string, envelope: Envelope, mark: Mark, signal: AbortSignal): Promise<Relayed> {
    this.#used += 1;
    try {
      return await this.#places.run(accountId, null, () => this.#inPlace(envelope, mark, signal));
    } finally {
      this.#used -= 1;
    }
  }

  async #inPlace(envelope: Envelope, mark: Mark, signal: AbortSignal): Promise<Relayed> {
    if (signal.aborted) return unreachedRelay('The relay had no session free in time.');
    const admitted = await this.#core.vendors.enter(this.vendor, CAPABILITY);
    if (admitted.kind === 'pass')
      return { kind: 'down', reply: noReply('The relay has failed before and is left alone for a while.') };
    let outcome: CallOutcome = gone;
    try {
      const relayed = await this.#byASession(envelope, mark, signal);
      outcome = outcomeOf(relayed);
      return relayed;
    } finally {
      admitted.reportOutcome(outcome);
    }
  }

  async #byASession(envelope: Envelope, mark: Mark, signal: AbortSignal): Promise<Relayed> {
    const kept = this.#takeIdle();
    const session = kept ?? new SmtpSession({ url: this.#url, name: this.#name });
    if (kept === undefined) {
      const failure = await session.open(signal);
      if (failure !== null) return failure;
    }
    if (!(await mark())) {
      this.#keep(session);
      return { kind: 'unmarked' };
    }
    const handedOver = await session.send(envelope, signal);
    if (handedOver.kind === 'answered') this.#keep(session);
    // A kept session may have been closed by the relay since: nothing of the mail has left.
    if (handedOver.kind === 'unreached' && kept !== undefined && !signal.aborted)
      return this.#byASession(envelope, async () => true, signal);
    return handedOver;
  }

  #takeIdle(): SmtpSession | undefined {
    while (this.#idle.length > 0) {
      const session = this.#idle.pop();
      if (session?.isOver === false) return session;
    }
    return undefined;
  }

  #keep(session: SmtpSession): void {
    if (!session.isOver) this.#idle.push(session);
  }

  /** Closes sessions that had nothing to do since `beforeMs`. */
  closeIdle(beforeMs: number): void {
    for (const session of this.#idle.splice(0)) {
      if (!session.isOver && session.usedMs >= beforeMs) this.#idle.push(session);
      else session.close();
    }
  }
}

export class Relays {
  readonly #relays: readonly Relay[];
  readonly #look: NodeJS.Timeout;

  constructor(core: Services) {
    const name = new URL(core.baseUrl).hostname.replace(/^\[|\]$/g, '');
    const vendors = vendorsOf(core);
    // Two that answer nothing leave room for the others.
    const sessionsMax = Math.max(4, Math.floor(ATTEMPTS_AT_ONCE / (vendors.length + 1)));
    this.#relays = vendors.map(({ vendor, url }) => new Relay(core, vendor, url, { name, sessionsMax }));
    const look = () => {
      for (const relay of this.#relays) relay.closeIdle(performance.now() - IDLE_MS);
    };
    this.#look = setInterval(look, IDLE_LOOK_MS).unref();
  }

  /** In the order in which they are asked. */
  get all(): readonly Relay[] {
    return this.#relays;
  }

  get busy(): readonly string[] {
    return this.#relays.filter(({ isBusy }) => isBusy).map(({ vendor }) => vendor.id);
  }

  close(): void {
    clearInterval(this.#look);
    for (const relay of this.#relays) relay.closeIdle(Number.POSITIVE_INFINITY);
  }
}

/** Those of the file, by priority; that of SMTP_URL where the file has none. */
function vendorsOf({ vendors, region, mailServer }: Services): { vendor: Vendor; url: string }[] {
  const rows = vendors.rowsFor(CAPABILITY).filter(({ vendor }) => vendor.disabled === null);
  if (rows.length > 0 || mailServer === null) {
    return rows
      .map(({ vendor }) => ({ vendor, url: vendor.secrets?.url?.reveal() ?? vendor.baseUrl }))
      .sort((one, other) => one.vendor.priority - other.vendor.priority);
  }
  const vendor: Vendor = {
    id: SMTP,
    adapter: SMTP,
    baseUrl: '',
    region,
    key: null,
    markupPct: 0,
    limits: { concurrent: null, perMinute: null },
    assetHosts: [],
    priority: 0,
    disabled: null,
  };
  return [{ vendor, url: mailServer.url }];
}

function outcomeOf(relayed: Relayed): CallOutcome {
  if (relayed.kind === 'unreached') {
    const reason =
      relayed.cause === 'login' ? 'VENDOR_AUTH_ERROR' : relayed.cause === 'timeout' ? 'VENDOR_TIMEOUT' : 'VENDOR_DOWN';
    return { breaker: { kind: 'counts' }, reason };
  }
  if (relayed.kind === 'unknown') return { breaker: { kind: 'counts' }, reason: 'VENDOR_TIMEOUT' };
  return relayed.kind === 'unmarked' ? gone : fine;
}

const noReply = (detail: string): Reply => ({ status: null, code: null, detail });
const unreachedRelay = (detail: string): Relayed => ({ kind: 'unreached', cause: 'timeout', reply: noReply(detail) });
