// Requests that are to be listed. They wait in this process and are written once a second; what a killed process had not written is not listed,
// though it was published. Each account has a share of the buffer.
import type { Sweep } from '../../../core/background/sweeper/sweep.ts';
import type { Services } from '../../../kit/services.ts';
import { type ReceivedRequest, writeRequests } from './store.ts';

const WRITE_EVERY_MS = 1_000;

interface Waiting {
  readonly requests: ReceivedRequest[];
  bytes: number;
}

export class ReceivedLog {
  readonly #core: Pick<Services, 'db' | 'bounds'>;
  #waiting = new Map<string, Waiting>();
  #size = 0;
  #bytes = 0;

  constructor(core: Pick<Services, 'db' | 'bounds'>) {
    this.#core = core;
  }

  add(request: ReceivedRequest): void {
    const { all, account } = this.#core.bounds;
    const bytes = request.message?.length ?? 0;
    const of = this.#waiting.get(request.accountId) ?? { requests: [], bytes: 0 };
    const isFull =
      of.requests.length >= account.receivedWebhooks ||
      this.#size >= all.receivedWebhooks ||
      of.bytes + bytes > account.receivedWebhookBytes ||
      this.#bytes + bytes > all.receivedWebhookBytes;
    if (isFull) return;
    of.requests.push(request);
    of.bytes += bytes;
    this.#size += 1;
    this.#bytes += bytes;
    this.#waiting.set(request.accountId, of);
  }

  /** Writes what waits of one account: whoever reads its list sees what this process has received. */
  async flushOf(accountId: string): Promise<void> {
    const of = this.#waiting.get(accountId);
    if (of === undefined) return;
    this.#waiting.delete(accountId);
    this.#size -= of.requests.length;
    this.#bytes -= of.bytes;
    await this.#write(accountId, of.requests);
  }

  /** What could not be written waits on. Throws the first error. */
  async flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    this.#size = 0;
    this.#bytes = 0;
    let failed: { readonly error: unknown } | null = null;
    for (const [accountId, { requests }] of waiting) {
      try {
        await this.#write(accountId, requests);
      } catch (error) {
        failed ??= { error };
      }
    }
    if (failed !== null) throw failed.error;
  }

  async #write(accountId: string, requests: readonly ReceivedRequest[]): Promise<void> {
    try {
      await writeRequests(this.#core.db, accountId, requests);
    } catch (error) {
      for (const request of requests) this.add(request);
      throw error;
    }
  }

  sweep(): Sweep {
    return {
      name: 'webhooks.received',
      intervalMs: WRITE_EVERY_MS,
      perProcess: true,
      run: async () => {
        await this.flush();
        return false;
      },
    };
  }
}
