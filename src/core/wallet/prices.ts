// The price book: versioned prices in nano-USD per unit (contract §3), composed from those of the modules. Free operations have no entry.
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

/** Price of `units` of a capability in nano-USD. Throws when the book has no such entry: the manifest check excludes that. */
export function priceOf(book: PriceBook, entry: string, units: bigint): bigint {
  const price = book.prices[entry];
  if (price === undefined) throw new Error(`price book ${book.version} has no entry ${entry}`);
  const amount = price.nanosPerUnit * units;
  const minimum = price.minimumNanos ?? 0n;
  return amount > minimum ? amount : minimum;
}
