// Who holds the connections of the proxy: an address until its client has shown a key, then the key's account.
import type { Socket } from 'node:net';
import type { Admission } from '../../../core/admission.ts';
import { FairPlaces } from '../../../lib/fair-places.ts';
import { networkOf } from '../../../lib/network-of.ts';

interface Held {
  readonly places: FairPlaces;
  readonly owner: string;
}

export class SocketPlaces {
  readonly #unidentified: FairPlaces;
  readonly #identified: FairPlaces;
  readonly #held = new Map<Socket, Held>();

  constructor({ unidentifiedMax, socketsMax }: Admission['proxy']) {
    this.#unidentified = new FairPlaces(unidentifiedMax);
    this.#identified = new FairPlaces(socketsMax);
  }

  /** Of a fresh connection; false: there is no room. */
  admit(socket: Socket): boolean {
    const isAdmitted = this.#hold(socket, this.#unidentified, networkOf(socket.remoteAddress ?? ''));
    if (isAdmitted) socket.once('close', () => this.#release(socket));
    return isAdmitted;
  }

  /** From now on it is the account's; false: that has no room, and all stays as it was. */
  identify(socket: Socket, accountId: string): boolean {
    const held = this.#held.get(socket);
    // It has closed meanwhile.
    if (held === undefined) return false;
    if (held.places === this.#identified && held.owner === accountId) return true;
    if (!this.#identified.take(accountId, 1)) return false;
    held.places.release(held.owner, 1);
    this.#held.set(socket, { places: this.#identified, owner: accountId });
    return true;
  }

  /** All that are open. */
  get clients(): IterableIterator<Socket> {
    return this.#held.keys();
  }

  #hold(socket: Socket, places: FairPlaces, owner: string): boolean {
    if (!places.take(owner, 1)) return false;
    this.#held.set(socket, { places, owner });
    return true;
  }

  #release(socket: Socket): void {
    const held = this.#held.get(socket);
    this.#held.delete(socket);
    held?.places.release(held.owner, 1);
  }
}

/** A place that is held until `release`, which may be called more than once; null: there is none. */
export function placeOf(places: FairPlaces, owner: string): { release(): void } | null {
  if (!places.take(owner, 1)) return null;
  let isHeld = true;
  return {
    release() {
      if (isHeld) places.release(owner, 1);
      isHeld = false;
    },
  };
}
