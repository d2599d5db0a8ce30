// Processes that die between any two steps of what they do with the database and the provider.

import type { Database, Transaction } from '../../src/db/database.ts';
import type { PaymentCore } from '../../src/payments/topups/create.ts';
import type { PaymentProvider } from '../../src/vendors/payments/port.ts';

export class Death extends Error {
  override readonly name = 'Death';
}

/** The services of a process that dies at its `last` step (the first is 0): from then on nothing it does has an effect. */
export class Mortal {
  readonly core: PaymentCore;
  #steps = 0;
  readonly #last: number;

  constructor(core: PaymentCore, last: number) {
    this.#last = last;
    const { db } = core;
    const provider = core.payments.provider as PaymentProvider;
    const mortalDb = {
      query: (...call: Parameters<Database['query']>) => this.#around(() => db.query(...call)),
      transaction: (body: (tx: Transaction) => Promise<unknown>) =>
        this.#around(() =>
          db.transaction(async (tx) => {
            const value = await body(tx);
            // Before the commit: all of it is undone.
            this.#step();
            return value;
          }),
        ),
    };
    const mortalProvider = new Proxy(provider, {
      get: (target, name) => {
        const member = Reflect.get(target, name, target);
        return typeof member === 'function'
          ? (...call: unknown[]) => this.#around(() => member.apply(target, call))
          : member;
      },
    });
    this.core = {
      ...core,
      db: mortalDb as unknown as Database,
      payments: { ...core.payments, provider: mortalProvider },
    };
  }

  async #around<T>(act: () => Promise<T>): Promise<T> {
    this.#step();
    const value = await act();
    this.#step();
    return value;
  }

  #step(): void {
    if (this.#steps >= this.#last) throw new Death('the process died');
    this.#steps += 1;
  }
}

/** Runs `work` in processes that die one step later each time, until one lives to its end. Answers how many died. */
export async function dyingEverywhere(
  alive: PaymentCore,
  work: (core: PaymentCore, last: number) => Promise<unknown>,
): Promise<number> {
  for (let last = 0; ; last += 1) {
    const { core } = new Mortal(alive, last);
    try {
      await work(core, last);
      return last;
    } catch (error) {
      if (!(error instanceof Death)) throw error;
    }
  }
}
