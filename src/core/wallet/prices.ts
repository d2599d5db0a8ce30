// The price book: versioned data in nano-USD per unit (contract §3). Free operations do not stand in it.
export interface Price {
  readonly unit: string;
  readonly nanosPerUnit: bigint;
  /** Least charge of one call, nano-USD. */
  readonly minimumNanos?: bigint;
}

export interface PriceBook {
  readonly version: string;
  readonly prices: Readonly<Record<string, Price>>;
}

export const defaultPriceBook: PriceBook = {
  version: '2026-11-01',
  prices: {
    'queue.publish': { unit: 'message', nanosPerUnit: 20_000n },
    'cron.run': { unit: 'run', nanosPerUnit: 20_000n },
    'errors.capture': { unit: 'event', nanosPerUnit: 50_000n },
    'vector.upsert': { unit: 'vector', nanosPerUnit: 1_000n, minimumNanos: 10_000n },
    'vector.query': { unit: 'query', nanosPerUnit: 10_000n },
  },
};

/** Price of `units` of a capability in nano-USD. Throws when the book has no such entry: the manifest check excludes that. */
export function priceOf(book: PriceBook, entry: string, units: bigint): bigint {
  const price = book.prices[entry];
  if (price === undefined) throw new Error(`price book ${book.version} has no entry ${entry}`);
  const amount = price.nanosPerUnit * units;
  const minimum = price.minimumNanos ?? 0n;
  return amount > minimum ? amount : minimum;
}
