// Ends of calls whose answer is out, so that nobody waits for them. Those of an account are written together a moment later: each takes the wallet,
// for which the next call of the account would wait. One that fails is seen to as that of a process that died.
import type { Services } from '../../../kit/services.ts';
import { type Charged, chargeCalls, type OpenHold } from './end.ts';

const GATHER_MS = 100;
const TOGETHER_MAX = 50;

export class Endings {
  readonly #core: Pick<Services, 'db' | 'prices' | 'log'>;
  /** By account. */
  readonly #gathered = new Map<string, (readonly [OpenHold, Charged])[]>();
  readonly #writing = new Set<Promise<void>>();

  constructor(core: Pick<Services, 'db' | 'prices' | 'log'>) {
    this.#core = core;
  }

  add(open: OpenHold, ended: Charged): void {
    const { accountId } = open;
    const waiting = this.#gathered.get(accountId);
    if (waiting === undefined) {
      this.#gathered.set(accountId, [[open, ended]]);
      setTimeout(() => this.#write(accountId), GATHER_MS);
      return;
    }
    waiting.push([open, ended]);
    if (waiting.length >= TOGETHER_MAX) this.#write(accountId);
  }

  /** At the stop. */
  async waitForAll(): Promise<void> {
    for (const accountId of [...this.#gathered.keys()]) this.#write(accountId);
    await Promise.all(this.#writing);
  }

  #write(accountId: string): void {
    const ends = this.#gathered.get(accountId) ?? [];
    this.#gathered.delete(accountId);
    if (ends.length === 0) return;
    const written = chargeCalls(this.#core, accountId, ends)
      .catch((err: unknown) =>
        this.#core.log.warn({ err, accountId }, 'ends of calls could not be written; the calls are ended as lost'),
      )
      .finally(() => this.#writing.delete(written));
    this.#writing.add(written);
  }
}
