// SQL of crawls and their pages. Every change to a crawl (a step, its cancellation, its key) locks its account's wallet.

import { dueTable } from '../../../core/background/due-table.ts';
import type { LeasedJob } from '../../../core/background/due-work.ts';
import type { CountedLimit } from '../../../core/callers/tiers.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { int4Array, textArray } from '../../../db/arrays.ts';
import type { Database, Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { resourceTable, rowSaver } from '../../../kit/resource.ts';
import type { RenderedPage, RenderMode } from '../fetch/rendered.ts';
import type { PageFormat } from '../read/wire.ts';

export type CrawlStatus = 'running' | 'completed' | 'cancelled' | 'failed';

export interface CrawlWish {
  readonly format: PageFormat;
  readonly mainContent: boolean;
  readonly limit: number;
  /** Absent, as in crawls of earlier releases: never. */
  readonly render?: RenderMode;
  readonly waitFor?: string | null;
  /** 0: the given URLs alone. */
  readonly depth: number;
  /** Every path that is followed begins with it; absent: all paths are. */
  readonly below?: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

export interface CrawlRow {
  readonly crawl_id: string;
  readonly key_id: string;
  readonly url: string;
  /** JSON of a CrawlWish. */
  readonly wish: string;
  readonly status: CrawlStatus;
  readonly reason: string | null;
  readonly next_no: number;
  readonly pages: number;
  readonly failures: number;
  readonly cost_nanos: bigint;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly due_at: number | null;
  readonly attempt: number;
}

/** A process that died is replaced when its lease is over. */
export const LEASE_MS = 15_000;
export const wishOf = ({ wish }: Pick<CrawlRow, 'wish'>) => JSON.parse(wish) as CrawlWish;

const shape = {
  table: 'web.crawl',
  key: 'crawl_id',
  isNewestFirst: true,
  counted: `status = 'running'`,
  columns:
    'crawl_id, key_id, url, wish, status, reason, next_no, pages, failures, cost_nanos, created_at, finished_at, due_at, attempt',
};
export const crawlTable = resourceTable<CrawlRow>(shape);
export const saveCrawl = rowSaver<CrawlRow>(shape);
export const crawlDue = dueTable({ table: 'web.crawl', key: 'crawl_id', leaseMs: LEASE_MS });

export const crawlLimits = {
  web_crawls: { description: 'Crawls that run at once.', used: crawlTable.count, standard: 2, pro: 10, enterprise: 50 },
} satisfies Readonly<Record<string, CountedLimit>>;

/** Of a crawl. */
export interface Place {
  readonly accountId: string;
  readonly crawlId: string;
}

export interface QueuedPage {
  readonly page_no: number;
  readonly url: string;
  readonly depth: number;
}

/** A page that was read, or could not be. */
export interface PageRow extends QueuedPage {
  readonly status: 'read' | 'failed';
  /** JSON of a RenderedPage; null: it could not be read. */
  readonly page: string | null;
  readonly error_code: string | null;
}

const renewLease = statement(
  'web_renew_crawl',
  `UPDATE web.crawl SET due_at = $4 WHERE account_id = $1 AND crawl_id = $2 AND attempt = $3 AND status = 'running'`,
);
const nextQueued = statement(
  'web_next_queued',
  `SELECT p.page_no, p.url, p.depth FROM web.page p
    WHERE p.account_id = $1 AND p.crawl_id = $2 AND p.status = 'queued' ORDER BY p.page_no LIMIT 1`,
);
const insertPages = statement(
  'web_insert_pages',
  `INSERT INTO web.page AS p (account_id, crawl_id, page_no, url, depth, status)
   SELECT w.account_id, $2, u.page_no, u.url, $5::smallint, 'queued'
     FROM core.wallet w, unnest($3::int[], $4::text[]) u(page_no, url) WHERE w.account_id = $1
       ON CONFLICT (account_id, crawl_id, url) DO NOTHING`,
);
const knownUrls = statement(
  'web_known_urls',
  `SELECT p.url FROM web.page p WHERE p.account_id = $1 AND p.crawl_id = $2 AND p.url = ANY($3::text[])`,
);
const endPage = statement(
  'web_end_page',
  `UPDATE web.page SET status = $4, page = $5, error_code = $6, read_at = $7
    WHERE account_id = $1 AND crawl_id = $2 AND page_no = $3 AND status = 'queued'`,
);
const listPages = statement(
  'web_list_pages',
  `SELECT p.page_no, p.url, p.depth, p.status, p.page, p.error_code FROM web.page p
    WHERE p.account_id = $1 AND p.crawl_id = $2 AND p.page_no > $3 AND p.status <> 'queued' ORDER BY p.page_no LIMIT $4::int`,
);
const listFailed = statement(
  'web_list_failed',
  `SELECT p.page_no, p.url, p.error_code, p.read_at FROM web.page p
    WHERE p.account_id = $1 AND p.crawl_id = $2 AND p.status = 'failed' ORDER BY p.page_no LIMIT 100`,
);
const findFinished = statement(
  'web_find_finished',
  `/* fan-out: crawls that are kept no longer */
   SELECT c.account_id, c.crawl_id FROM web.crawl c
    WHERE c.finished_at < core.clock_now() - $1 * interval '1 hour' ORDER BY c.finished_at LIMIT $2`,
);
const deletePages = statement('web_delete_pages', 'DELETE FROM web.page WHERE account_id = $1 AND crawl_id = $2');
const deleteCrawl = statement('web_delete_crawl', 'DELETE FROM web.crawl WHERE account_id = $1 AND crawl_id = $2');

/** False: another attempt has the crawl, or it ended. */
export async function renewCrawl(db: Database, { accountId, id, attempt }: LeasedJob): Promise<boolean> {
  const endsMs = (await clockNow(db)) + LEASE_MS;
  return (await db.query(renewLease, [accountId, id, attempt, timestamp(endsMs)])).count === 1;
}

/** The next page to be read; null: there is none. */
export async function queuedPage(db: Queryable, { accountId, crawlId }: Place): Promise<QueuedPage | null> {
  return (await db.query<QueuedPage>(nextQueued, [accountId, crawlId])).rows[0] ?? null;
}

/** Those of the URLs that the crawl does not know, in their order. */
export async function unknownOf(
  tx: Transaction,
  { accountId, crawlId }: Place,
  urls: readonly string[],
): Promise<string[]> {
  if (urls.length === 0) return [];
  const { rows } = await tx.query<{ url: string }>(knownUrls, [accountId, crawlId, textArray(urls)]);
  const known = new Set(rows.map(({ url }) => url));
  return urls.filter((url) => !known.has(url));
}

/** Queues URLs that the crawl does not know, numbered from `firstNo`. */
export async function queuePages(
  tx: Transaction,
  { accountId, crawlId }: Place,
  { urls, firstNo, depth }: { readonly urls: readonly string[]; readonly firstNo: number; readonly depth: number },
): Promise<void> {
  if (urls.length === 0) return;
  const numbers = int4Array(urls.map((_, i) => firstNo + i));
  await tx.query(insertPages, [accountId, crawlId, numbers, textArray(urls), depth]);
}

/** What became of a queued page. False: it was not queued any more. */
export async function savePage(
  tx: Transaction,
  { accountId, crawlId }: Place,
  pageNo: number,
  outcome: RenderedPage | { readonly code: string },
  nowMs: number,
): Promise<boolean> {
  const isRead = !('code' in outcome);
  // Its links are queued, or not followed: nobody asks for them again, and a thousand are more than the content.
  const values = [
    isRead ? 'read' : 'failed',
    isRead ? JSON.stringify({ ...outcome, links: [] }) : null,
    isRead ? null : outcome.code,
  ];
  const { count } = await tx.query(endPage, [accountId, crawlId, pageNo, ...values, timestamp(nowMs)]);
  return count === 1;
}

/** Pages behind a number, in the order in which they were found. */
export async function endedPages(
  db: Queryable,
  { accountId, crawlId }: Place,
  afterNo: number,
  limit: number,
): Promise<PageRow[]> {
  return (await db.query<PageRow>(listPages, [accountId, crawlId, afterNo, limit])).rows;
}

export interface FailedPage extends Pick<PageRow, 'page_no' | 'url'> {
  readonly error_code: string;
  readonly read_at: number;
}

export async function failedPages(db: Queryable, { accountId, crawlId }: Place): Promise<FailedPage[]> {
  return (await db.query<FailedPage>(listFailed, [accountId, crawlId])).rows;
}

/** Deletes crawls that ended so many hours ago. True: there are more. */
export async function deleteFinished(db: Database, hours: number): Promise<boolean> {
  const CRAWLS = 100;
  const { rows } = await db.query<{ account_id: string; crawl_id: string }>(findFinished, [hours, CRAWLS]);
  for (const { account_id, crawl_id } of rows) {
    await db.transaction(async (tx) => {
      await tx.query(deletePages, [account_id, crawl_id]);
      await tx.query(deleteCrawl, [account_id, crawl_id]);
    });
  }
  return rows.length === CRAWLS;
}
