// Runs a search: engines of the operator's file are asked in turn until one answers. The engine that answers sets the price.
import type { CallContext } from '../../../kit/services.ts';
import { problem } from '../../../problems/problem.ts';
import type { Candidate } from '../../../routing/choose.ts';
import { type Chain, callSucceeded, walk } from '../../../routing/walk.ts';
import { ask } from '../../../vendors/call/ask.ts';
import { judge } from '../../../vendors/call/judge.ts';
import { type NotSent, type Refused, vendorTimeouts } from '../../../vendors/call/port.ts';
import { SANDBOX } from '../../../vendors/file/port.ts';
import { SEARCH_MS } from '../limits.ts';
import { type Engine, engines, type SearchResult, type SearchWish } from './engines.ts';
import { SEARCH, searchNanos } from './family.ts';

/** Results of the sandbox. */
const MADE_UP = 3;

export interface Found {
  readonly results: readonly SearchResult[];
  readonly vendor: string;
  readonly costNanos: bigint;
}

/** Whom a search may go to; `vendor` pins one. Throws VENDOR_NOT_AVAILABLE. */
export function enginesFor({ core }: Pick<CallContext, 'core'>, vendor: string | null): Chain {
  const wish = { capability: SEARCH, model: null, vendor, crossRegion: false };
  const choice = core.vendors.choose({ ...wish, unable: () => null, quote: searchNanos });
  if (choice.kind === 'unable') throw new Error('an engine takes every search');
  // Nobody who searches the web is answered with made-up pages.
  if (vendor === null && choice.chain[0].vendor === SANDBOX) {
    const message = `No vendor is configured for ${SEARCH}. The vendor sandbox answers made-up results, for tests.`;
    throw problem('VENDOR_NOT_AVAILABLE', { detail: 'no_vendor_configured', message });
  }
  return choice.chain;
}

/** Throws the Problem of a refusal, or of what the first engine was left for. */
export async function search(ctx: CallContext, chain: Chain, wish: SearchWish): Promise<Found> {
  const { candidate, reply, reportOutcome } = await walk(ctx, chain, (one) => askEngine(ctx, one, wish));
  reportOutcome(callSucceeded);
  return { results: reply.results, vendor: candidate.vendor, costNanos: candidate.quoteNanos };
}

interface Answered {
  readonly kind: 'answered';
  readonly results: readonly SearchResult[];
}

async function askEngine(
  { core, signal }: CallContext,
  { row }: Candidate,
  wish: SearchWish,
): Promise<Answered | Refused | NotSent> {
  const { vendor } = row;
  if (vendor.id === SANDBOX) return { kind: 'answered', results: madeUp(wish) };
  const engine = engines[vendor.adapter] as Engine;
  const key = vendor.secrets?.api_key?.reveal() ?? null;
  const call = {
    baseUrl: vendor.baseUrl,
    key,
    assetHosts: [],
    timeouts: vendorTimeouts,
    outbound: core.outbound,
    signal,
  };
  const reply = await ask(call, {
    method: 'GET',
    url: engine.address(row, wish),
    timeoutMs: SEARCH_MS,
    credentials: engine.credentials(row),
  });
  const results = reply.kind === 'answered' && reply.status === 200 ? engine.results(reply.body) : null;
  if (results !== null) return { kind: 'answered', results: results.slice(0, wish.count) };
  const verdict = judge(reply, reply.kind === 'answered' ? engine.error(reply.body) : null, { awaits: 'answer', key });
  if (verdict.kind === 'unknown') throw new Error('an answer that is awaited is never unknown');
  return verdict;
}

/** The same for the same query, and no page of anybody. */
function madeUp({ query, count }: SearchWish): SearchResult[] {
  return Array.from({ length: Math.min(count, MADE_UP) }, (_, i) => ({
    title: `Page ${i + 1} about ${query}`,
    url: `https://example.com/${i + 1}?${new URLSearchParams({ q: query })}`,
    snippet: `A made-up result of the sandbox for "${query}".`,
  }));
}
