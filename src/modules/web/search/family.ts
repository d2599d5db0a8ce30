// Search engines in the operator's file: `{id, adapter: searxng, base_url}` and `{id, adapter: brave, api_key, price}`. A SearXNG is the
// operator's own, so a search costs the service's price; a Brave search costs what Brave bills. The sandbox answers only calls that name it.
import Type from 'typebox';
import { nanosOfUsd } from '../../../lib/money.ts';
import { quoteOf } from '../../../routing/quote.ts';
import type { Adapter, ModelFamily, ModelRow } from '../../../vendors/file/port.ts';

export const SEARCH = 'web.search';
export const SEARCH_NANOS = 100_000n;

const amount = Type.Number({ minimum: 0, maximum: 1, description: 'USD per search' });

const searxng: Adapter = {
  name: 'searxng',
  modelFields: {},
  modelless: { fields: {}, secrets: [] },
};

const brave: Adapter = {
  name: 'brave',
  baseUrl: 'https://api.search.brave.com',
  modelFields: {},
  modelless: {
    fields: { price: Type.Union([Type.Literal('free'), amount], { description: 'USD per search, or free' }) },
    secrets: ['api_key'],
  },
};

/** What a search costs the caller, nano-USD with markup. */
export function searchNanos({ vendor, price }: ModelRow): bigint {
  if (vendor.adapter !== brave.name) return SEARCH_NANOS;
  return quoteOf(vendor, price === 'free' ? 0n : (nanosOfUsd(price as number) ?? 0n), 1n);
}

export const searchFamily: ModelFamily = {
  name: 'web',
  capabilities: [SEARCH],
  traits: Type.Object({}),
  price: amount,
  timeouts: [],
  sandbox: [{ id: 'sandbox', price: 0.0001 }],
  serves: () => [SEARCH],
  lowestNanos: searchNanos,
  adapters: () => [searxng, brave],
};
