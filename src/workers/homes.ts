// Home process of each account, and the handover of a connection to it through the first process. The first process decides: an account
// goes to the process with the fewest accounts, or on a tie to the one that asks.
import type { Worker } from 'node:cluster';
import { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Homes } from '../surfaces/http/moves.ts';
import { type Link, NoAnswer } from './link.ts';

/** An account that is forgotten gets a home again when it next opens a connection. */
const ACCOUNTS_REMEMBERED = 10_000;

/** What comes with a connection that is handed over. */
interface Parcel {
  readonly home: number;
}

/** A connection as Node passes it from process to process without reading from it. */
type Handle = Socket & { close(): void };

interface Resident {
  readonly worker: Worker;
  readonly link: Link;
  accounts: number;
  /** On their way to it. Node forgets what still waits when a channel ends: then their clients would wait for ever. */
  readonly arriving: Set<Handle>;
}

/** The first process's side. */
export class HomeKeeper {
  readonly #residents = new Map<number, Resident>();
  readonly #homes = new LRUCache<string, Resident>({
    max: ACCOUNTS_REMEMBERED,
    dispose: (resident) => {
      resident.accounts -= 1;
    },
  });

  /** Of a worker that has just been started. */
  hear(slot: number, worker: Worker, link: Link): void {
    link.on('home.of', (accountId: string) => this.#homeOf(accountId, slot));
    link.on('home.moved', (home: number) => this.#residents.get(home)?.link.ask('home.moved'));
    worker.on('message', (message: unknown, handle: Handle | undefined) => {
      if (handle !== undefined) this.#forward(message as Parcel, handle);
    });
  }

  /** The worker listens: from now on it takes connections. */
  open(slot: number, worker: Worker, link: Link): void {
    const resident: Resident = { worker, link, accounts: 0, arriving: new Set() };
    this.#residents.set(slot, resident);
    worker.once('exit', () => {
      this.#residents.delete(slot);
      for (const handle of resident.arriving) handle.close();
    });
  }

  #homeOf(accountId: string, asking: number): number {
    const known = this.#slotOf(this.#homes.get(accountId));
    if (known !== null) return known;
    let [home, fewest] = [asking, this.#residents.get(asking)?.accounts ?? 0];
    for (const [slot, { accounts }] of this.#residents) if (accounts < fewest) [home, fewest] = [slot, accounts];
    const resident = this.#residents.get(home);
    if (resident === undefined) return asking;
    resident.accounts += 1;
    this.#homes.set(accountId, resident);
    return home;
  }

  /** Null where the process has ended. */
  #slotOf(resident: Resident | undefined): number | null {
    for (const [slot, one] of this.#residents) if (one === resident) return slot;
    return null;
  }

  /** Where the home has ended, to whoever is there: the connection goes on. */
  #forward({ home }: Parcel, handle: Handle): void {
    const resident = this.#residents.get(home) ?? this.#residents.values().next().value;
    if (resident?.worker.isConnected() !== true) {
      handle.close();
      return;
    }
    resident.arriving.add(handle);
    resident.worker.send({ home }, handle, undefined, () => {
      if (resident.arriving.delete(handle)) handle.close();
    });
  }
}

/** A worker's side. */
export class WorkerHomes implements Homes {
  readonly #link: Link;
  readonly #slot: number;

  constructor(link: Link, slot: number) {
    this.#link = link;
    this.#slot = slot;
    // Asked after a connection was sent, and so heard after it.
    link.on('home.moved', () => null);
  }

  async homeOf(accountId: string): Promise<number | null> {
    const home = await this.#link.ask('home.of', accountId).catch(unlessGone);
    return home === null || home === this.#slot ? null : (home as number);
  }

  async move(socket: Socket, home: number): Promise<void> {
    const { _handle: handle } = socket as unknown as { _handle: Handle };
    // From now on nothing is read here.
    socket.pause();
    const parcel: Parcel = { home };
    process.send?.(parcel, handle, undefined, () => socket.destroy());
    await this.#link.ask('home.moved', home).catch(unlessGone);
  }

  onMoved(take: (socket: Socket) => void): void {
    process.on('message', (_message, handle) => {
      if (handle !== undefined) take(new Socket({ handle, readable: true, writable: true } as object));
    });
  }
}

export function unlessGone(error: unknown): null {
  if (error instanceof NoAnswer) return null;
  throw error;
}
