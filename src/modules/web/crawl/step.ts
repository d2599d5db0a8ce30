// One step of a crawl: reads the next page; then, in one transaction, charges and stores it and queues its links. A page in progress when a
// process dies is read again, and charged once, with its row. After a cancellation nothing is charged or stored, since both lock the wallet.
import { dueWork, type LeasedJob } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { openTurn } from '../../../core/background/turns.ts';
import { scopesAllow } from '../../../core/callers/scopes.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { findKey } from '../../../core/keys/store.ts';
import { chargeWork } from '../../../core/wallet/charge/charge-work.ts';
import { readFunds } from '../../../core/wallet/funds.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { openWallet } from '../../../core/wallet/open-wallet.ts';
import { priceOf } from '../../../core/wallet/prices.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { Problem } from '../../../problems/problem.ts';
import { type RenderedPage, readRendered } from '../fetch/rendered.ts';
import { CRAWL_CONTENT_BYTES, CRAWL_KNOWN_FACTOR, CRAWL_MS_MAX, DRAWN, FETCH } from '../limits.ts';
import { problem } from '../problems.ts';
import type { WebState } from '../state.ts';
import { linksToFollow, pageUrl } from './links.ts';
import {
  type CrawlRow,
  type CrawlStatus,
  type CrawlWish,
  crawlDue,
  crawlTable,
  LEASE_MS,
  type Place,
  type QueuedPage,
  queuedPage,
  queuePages,
  renewCrawl,
  saveCrawl,
  savePage,
  unknownOf,
  wishOf,
} from './store.ts';

export const CRAWL_WORK = 'web.crawl';
/** Most of a crawl is waiting. */
const PLACES = 16;
/** A page that waits for its host, or for a thread, is tried again. */
const AGAIN_MS = 2_000;
const BUSY = new Set(['RATE_LIMITED', 'CONCURRENCY_LIMITED', 'OVERLOADED']);

type PriceEntry = typeof FETCH | typeof DRAWN;
type Outcome = RenderedPage | { readonly code: string };

interface Told {
  readonly outcome: Outcome;
  /** Those that the crawl follows. */
  readonly links: readonly string[];
}

export function crawlLoop(web: WebState): JobLoop {
  return dueWork<LeasedJob>(web.core, {
    name: CRAWL_WORK,
    places: PLACES,
    perClaim: 2,
    claim: crawlDue.claim,
    run: (job, signal, lost) => step(web, job, AbortSignal.any([signal, lost])),
    renewal: { everyMs: LEASE_MS / 3, renew: (job) => renewCrawl(web.core.db, job) },
    putBack: crawlDue.setDue,
  });
}

async function step(web: WebState, job: LeasedJob, signal: AbortSignal): Promise<void> {
  const { db } = web.core;
  const place = { accountId: job.accountId, crawlId: job.id };
  const crawl = await crawlTable.find(db, place, job.id);
  if (crawl === null || crawl.status !== 'running') return;
  // Also where its host has no turn for it, or a page always fails to be kept.
  if ((await clockNow(db)) - crawl.created_at > CRAWL_MS_MAX) return endCrawl(web, job, 'completed', 'time');
  const queued = await queuedPage(db, place);
  if (queued === null) return endCrawl(web, job, 'completed', null);
  // What would not be paid for is not asked for; under the lock both are looked at again.
  const refusal =
    (await refusalOf(db, job.accountId, crawl.key_id)) ?? (await creditRefusal(web, job.accountId, FETCH));
  if (refusal !== null) return endCrawl(web, job, 'failed', refusal);
  const outcome = await outcomeOf(web, job.accountId, queued, wishOf(crawl), signal);
  if ('code' in outcome && BUSY.has(outcome.code)) return again(web, job);
  if ('code' in outcome && outcome.code === 'INSUFFICIENT_CREDIT')
    return endCrawl(web, job, 'failed', 'insufficient_credit');
  const links = await linksOf(crawl, queued, outcome);
  await db.transaction((tx) => keep(web, tx, job, queued, { outcome, links }), job.accountId);
}

async function outcomeOf(
  web: WebState,
  accountId: string,
  { url }: QueuedPage,
  { format, mainContent, depth, render = 'never', waitFor = null }: CrawlWish,
  signal: AbortSignal,
): Promise<Outcome> {
  const wish = { url, format, mainContent, links: depth > 0, bytesMax: CRAWL_CONTENT_BYTES, render, waitFor };
  try {
    return await readRendered(web, accountId, wish, {
      signal,
      async beforeDraw() {
        if ((await creditRefusal(web, accountId, DRAWN)) !== null) throw problem('INSUFFICIENT_CREDIT');
      },
    });
  } catch (error) {
    if (error instanceof Problem && !signal.aborted) return { code: error.code };
    throw error;
  }
}

/** The crawl as it is under the lock of its account; null: it ended, or another attempt has it. */
async function lockCrawl(tx: Transaction, { accountId, id, attempt }: LeasedJob) {
  const opened = await openWallet(tx, accountId);
  const crawl = await crawlTable.find(tx, { accountId }, id);
  if (opened === null || crawl === null || crawl.status !== 'running' || crawl.attempt !== attempt) return null;
  return { opened, crawl };
}

async function keep(
  web: WebState,
  tx: Transaction,
  job: LeasedJob,
  queued: QueuedPage,
  { outcome, links }: Told,
): Promise<void> {
  const found = await lockCrawl(tx, job);
  if (found === null) return;
  const { opened, crawl } = found;
  const { nowMs } = opened;
  const place = { accountId: job.accountId, crawlId: job.id };
  const refusal = await refusalOf(tx, job.accountId, crawl.key_id);
  if (refusal !== null) return end(tx, job, { ...crawl, reason: refusal }, 'failed', nowMs);
  let costNanos = 0n;
  if (!('code' in outcome)) {
    const work = { capability: FETCH, priceEntry: entryOf(outcome), keyId: crawl.key_id, units: 1n };
    const [verdict] = await chargeWork(tx, opened, web.core.prices, [work]);
    if (verdict?.charged !== true) {
      const reason = verdict?.reason === 'balance' ? 'insufficient_credit' : (verdict?.reason ?? 'insufficient_credit');
      return end(tx, job, { ...crawl, reason }, 'failed', nowMs);
    }
    costNanos = verdict.costNanos;
    await countAccepted(tx, [{ accountId: job.accountId, capability: FETCH, units: 1n }]);
  }
  if (!(await savePage(tx, place, queued.page_no, outcome, nowMs)))
    throw new Error(`a page of ${job.id} was kept twice`);
  const next_no = await follow(tx, place, crawl, queued, links);
  const after = {
    ...crawl,
    next_no,
    cost_nanos: crawl.cost_nanos + costNanos,
    ...('code' in outcome ? { failures: crawl.failures + 1 } : { pages: crawl.pages + 1 }),
  };
  const isFull = after.pages + after.failures >= wishOf(crawl).limit;
  const isLate = nowMs - crawl.created_at > CRAWL_MS_MAX;
  if (isFull || isLate || (await queuedPage(tx, place)) === null) {
    return end(tx, job, isLate && !isFull ? { ...after, reason: 'time' } : after, 'completed', nowMs);
  }
  saveCrawl(tx, place, { ...after, due_at: nowMs });
  await openTurn(tx, job.accountId, CRAWL_WORK, nowMs);
}

const entryOf = ({ rendered }: RenderedPage) => (rendered ? DRAWN : FETCH);

/** The links of a page that are followed. Before the transaction: they are looked through some at a time. */
async function linksOf(
  { wish: asked, url }: CrawlRow,
  { depth }: QueuedPage,
  outcome: Outcome,
): Promise<readonly string[]> {
  const wish = wishOf({ wish: asked });
  if ('code' in outcome || depth >= wish.depth) return [];
  const own = pageUrl(outcome.url);
  return (await linksToFollow(outcome.links, { ...wish, host: new URL(url).host })).filter((link) => link !== own);
}

/** Queues the links that are new, as far as the crawl may know more. Answers the number that the next page gets. */
async function follow(
  tx: Transaction,
  place: Place,
  { next_no, wish }: CrawlRow,
  { depth }: QueuedPage,
  links: readonly string[],
): Promise<number> {
  const room = Math.max(0, wishOf({ wish }).limit * CRAWL_KNOWN_FACTOR - next_no);
  const urls = room === 0 ? [] : (await unknownOf(tx, place, links)).slice(0, room);
  await queuePages(tx, place, { urls, firstNo: next_no, depth: depth + 1 });
  return next_no + urls.length;
}

async function creditRefusal({ core }: WebState, accountId: string, entry: PriceEntry): Promise<string | null> {
  const funds = await readFunds(core.db.hot, accountId);
  return funds < priceOf(core.prices, entry, 1n) ? 'insufficient_credit' : null;
}

/** Why the key may not go on; null: it may. A session that began a crawl is not asked for again. */
async function refusalOf(tx: Queryable, accountId: string, keyId: string): Promise<string | null> {
  const key = await findKey(tx, accountId, keyId);
  if (key === null) return keyId.startsWith('key_') ? 'key_ended' : null;
  if (key.status === 'revoked' || key.status === 'expired') return 'key_ended';
  return scopesAllow(key.scopes, CRAWL_WORK, 'write') ? null : 'insufficient_scope';
}

function end(
  tx: Transaction,
  { accountId }: Pick<LeasedJob, 'accountId'>,
  crawl: CrawlRow,
  status: CrawlStatus,
  nowMs: number,
): void {
  saveCrawl(tx, { accountId }, { ...crawl, status, finished_at: nowMs, due_at: null });
}

function endCrawl({ core }: WebState, job: LeasedJob, status: CrawlStatus, reason: string | null): Promise<void> {
  return core.db.transaction(async (tx) => {
    const found = await lockCrawl(tx, job);
    if (found !== null) end(tx, job, { ...found.crawl, reason }, status, found.opened.nowMs);
  }, job.accountId);
}

function again({ core }: WebState, job: LeasedJob): Promise<void> {
  return core.db.transaction(async (tx) => {
    const found = await lockCrawl(tx, job);
    if (found === null) return;
    const dueMs = found.opened.nowMs + AGAIN_MS;
    await crawlDue.setDue(tx, job, dueMs);
    await openTurn(tx, job.accountId, CRAWL_WORK, dueMs);
  }, job.accountId);
}
