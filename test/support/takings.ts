// What calls take of an account, held against what their price lines allow and what their answers tell. It is read from the ledger, which
// has an entry for each change of the balance.
import { expect } from 'vitest';
import { priceOf } from '../../src/core/wallet/prices.ts';
import type { Capability } from '../../src/kit/capability.ts';
import type { Services } from '../../src/kit/services.ts';
import { byId, manifest } from './capabilities.ts';
import type { Client, Reply } from './service.ts';

interface Entry {
  readonly seq: string;
  readonly capability: string;
  readonly units: bigint;
  readonly nanos: bigint;
}

type Priced = Pick<Capability, 'id' | 'price' | 'laterPrices' | 'chargedAtEnd'>;

const readEntries = {
  name: 'test_takings',
  text: `SELECT entry_seq::text AS seq, capability, units, -amount_nanos AS nanos FROM core.ledger
    WHERE account_id = $1 AND entry_seq > $2 AND kind IN ('charge', 'capture') ORDER BY entry_seq`,
};

/** Of one account, whose calls go through `watch` one after another. */
export class Takings {
  readonly #core: Services;
  readonly #accountId: string;
  readonly #byRequest = new Map<string, readonly Entry[]>();
  /** Capabilities whose work may be charged after their call. */
  readonly #begun = new Set<string>();
  #lastSeq = '0';

  constructor(core: Services, accountId: string) {
    this.#core = core;
    this.#accountId = accountId;
  }

  watch(call: Client): Client {
    return async (...args) => {
      const reply = await call(...args);
      this.#byRequest.set(reply.body?.metadata?.request_id, await this.#entries());
      return reply;
    };
  }

  async #entries(): Promise<readonly Entry[]> {
    const { rows } = await this.#core.db.query<{ seq: string; capability: string; units: string; nanos: string }>(
      readEntries,
      [this.#accountId, this.#lastSeq],
    );
    this.#lastSeq = rows.at(-1)?.seq ?? this.#lastSeq;
    return rows.map((row) => ({ ...row, units: BigInt(row.units), nanos: BigInt(row.nanos) }));
  }

  /** `reply` of a call that was watched; in the order of the calls. */
  expectCostOf(capability: Priced, reply: Reply): void {
    const { request_id: id, cost_usd: costUsd } = reply.body.metadata;
    const entries = this.#byRequest.get(id) ?? [];
    const told = BigInt(Math.round(costUsd * 1e9));
    const own = entries.filter((entry) => entry.capability === capability.id);
    const within = entries.filter((entry) => entry.capability !== capability.id && isInLine(capability, entry));
    const others = entries.filter((entry) => !own.includes(entry) && !within.includes(entry));
    const words = `${capability.id} tells ${told} nano-USD of ${JSON.stringify(entries, (_, value) => (typeof value === 'bigint' ? Number(value) : value))}`;
    expect(
      others.filter((entry) => !this.#begun.has(entry.capability)),
      words,
    ).toEqual([]);
    for (const entry of own) expect(entry.nanos, words).toBeLessThanOrEqual(mostOf(capability, entry.units));
    for (const entry of within)
      expect(entry.nanos, words).toBeLessThanOrEqual(mostOf(byId(entry.capability), entry.units));
    // What ends while its caller waits is charged then, and else afterwards; what was begun before may end within any call.
    const isLate = capability.chargedAtEnd === true && told === 0n;
    const certain = [...own, ...within].filter((entry) => !this.#begun.has(entry.capability));
    if (!isLate) {
      expect(told, words).toBeGreaterThanOrEqual(sumOf(certain));
      expect(told, words).toBeLessThanOrEqual(sumOf([...own, ...within]));
    }
    this.#note(capability);
  }

  #note(capability: Priced): void {
    if (capability.chargedAtEnd === true) this.#begun.add(capability.id);
    for (const { id, price } of manifest.capabilities) {
      if (price !== 'free' && (capability.laterPrices ?? []).includes(price)) this.#begun.add(id);
    }
  }
}

function isInLine({ laterPrices = [] }: Priced, { capability }: Entry): boolean {
  const { price } = byId(capability);
  return price !== 'free' && laterPrices.includes(price);
}

/** What so many units cost by all that stands in the line. */
function mostOf({ price, laterPrices = [] }: Priced, units: bigint): bigint {
  const names = price === 'free' ? laterPrices : [price, ...laterPrices];
  return names.reduce((sum, name) => sum + priceOf(manifest.prices, name, units), 0n);
}

function sumOf(entries: readonly Entry[]): bigint {
  return entries.reduce((sum, { nanos }) => sum + nanos, 0n);
}
