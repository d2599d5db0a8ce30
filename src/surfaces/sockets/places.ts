// Limits on open sockets: per process, shared fairly between accounts; and per account and per address, counted for all processes behind
// the port.
import type { Admission } from '../../core/admission.ts';
import type { UnderWay } from '../../core/process/under-way.ts';
import { FairPlaces } from '../../lib/fair-places.ts';
import { networkOf } from '../../lib/network-of.ts';
import { type Problem, problem } from '../../problems/problem.ts';

const RETRY_AFTER_MS = 5_000;

export class SocketPlaces {
  readonly bounds: Admission;
  readonly all: FairPlaces;
  /** Of these, those that have not identified themselves, by address. */
  readonly unidentified: FairPlaces;
  /** Bytes of half messages, and of messages that are not read. */
  readonly bytes: FairPlaces;

  constructor(bounds: Admission) {
    this.bounds = bounds;
    this.all = new FairPlaces(bounds.all.webSockets);
    this.unidentified = new FairPlaces(bounds.all.unidentifiedWebSockets);
    this.bytes = new FairPlaces(bounds.all.webSocketBytesMax);
  }

  /** A place for one socket; `accountId`: null where it is not known yet. Throws CONCURRENCY_LIMITED, OVERLOADED. */
  async take(underWay: UnderWay, accountId: string | null, remoteAddress: string): Promise<SocketPlace> {
    const network = networkOf(remoteAddress);
    await begin(underWay, ofAddress(network), this.bounds.address.webSocketsMax, 'This address');
    try {
      if (accountId !== null) await this.takeFor(underWay, accountId);
      else {
        require(this.unidentified, network);
        if (!this.all.take(network, 1)) {
          this.unidentified.release(network, 1);
          throw tooMany(this.all, network);
        }
      }
    } catch (error) {
      underWay.end(ofAddress(network));
      throw error;
    }
    return new SocketPlace(this, underWay, network, accountId);
  }

  async takeFor(underWay: UnderWay, accountId: string): Promise<void> {
    await begin(underWay, ofAccount(accountId), this.bounds.account.webSocketsMax, 'The account');
    if (this.all.take(accountId, 1)) return;
    underWay.end(ofAccount(accountId));
    throw tooMany(this.all, accountId);
  }
}

/** What one socket takes. */
export class SocketPlace {
  readonly #places: SocketPlaces;
  readonly #underWay: UnderWay;
  readonly #network: string;
  #accountId: string | null;
  #bytes = 0;
  #isReleased = false;

  constructor(places: SocketPlaces, underWay: UnderWay, network: string, accountId: string | null) {
    this.#places = places;
    this.#underWay = underWay;
    this.#network = network;
    this.#accountId = accountId;
  }

  /** Whose share it takes: its account's, or that of its address. */
  get owner(): string {
    return this.#accountId ?? this.#network;
  }

  /** The account is known: from now on it counts as its. Throws CONCURRENCY_LIMITED, OVERLOADED, and is as it was then. */
  async claim(accountId: string): Promise<void> {
    await this.#places.takeFor(this.#underWay, accountId);
    const bytes = this.#bytes;
    if (!this.#isReleased) this.#release();
    this.#accountId = accountId;
    // Its socket may have closed meanwhile.
    if (this.#isReleased) return this.#release();
    this.#places.bytes.force(accountId, bytes);
    this.#bytes = bytes;
  }

  /** It holds so many bytes now. False: there is no room for so many. */
  hold(bytes: number): boolean {
    const more = bytes - this.#bytes;
    if (more > 0 && !this.#places.bytes.take(this.owner, more)) return false;
    if (more < 0) this.#places.bytes.release(this.owner, -more);
    this.#bytes = bytes;
    return true;
  }

  release(): void {
    this.#isReleased = true;
    this.#release();
    this.#underWay.end(ofAddress(this.#network));
  }

  #release(): void {
    const { all, unidentified } = this.#places;
    this.hold(0);
    all.release(this.owner, 1);
    if (this.#accountId === null) unidentified.release(this.#network, 1);
    else this.#underWay.end(ofAccount(this.#accountId));
  }
}

const ofAddress = (network: string) => `web sockets from ${network}`;
const ofAccount = (accountId: string) => `web sockets of ${accountId}`;

async function begin(underWay: UnderWay, name: string, max: number, who: string): Promise<void> {
  if (await underWay.begin(name, max)) return;
  const message = `${who} has ${max} WebSockets open: close some first.`;
  throw problem('CONCURRENCY_LIMITED', { message, retryAfterMs: RETRY_AFTER_MS });
}

function require(places: FairPlaces, owner: string): void {
  if (!places.take(owner, 1)) throw tooMany(places, owner);
}

function tooMany(places: FairPlaces, owner: string): Problem {
  return problem(places.isGreedy(owner) ? 'CONCURRENCY_LIMITED' : 'OVERLOADED', { retryAfterMs: RETRY_AFTER_MS });
}
