// Start of a crawl: its row and first queued pages, in one write of the account.

import { openTurn } from '../../../core/background/turns.ts';
import { runWrite } from '../../../core/idempotency/write.ts';
import { requireRoom } from '../../../kit/resource.ts';
import type { CallContext } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { problem } from '../problems.ts';
import { pageUrl } from './links.ts';
import { showCrawl } from './schemas.ts';
import { CRAWL_WORK } from './step.ts';
import { type CrawlRow, type CrawlWish, crawlLimits, queuePages, saveCrawl } from './store.ts';

/** `urls`: where it begins, at least one. Throws TARGET_REJECTED, QUOTA_EXCEEDED, and what a write throws. */
export async function beginCrawl(ctx: CallContext, urls: readonly string[], wish: CrawlWish, param: string) {
  const first = [...new Set(urls.map((url) => requirePage(url, param)))];
  return runWrite(ctx, async (tx, { nowMs }) => {
    await requireRoom(tx, ctx, 'crawl', crawlLimits.web_crawls);
    const row: CrawlRow = {
      crawl_id: newId('crawl_', nowMs),
      key_id: ctx.principal.id,
      url: first[0] as string,
      wish: JSON.stringify(wish),
      status: 'running',
      reason: null,
      next_no: first.length,
      pages: 0,
      failures: 0,
      cost_nanos: 0n,
      created_at: nowMs,
      finished_at: null,
      due_at: nowMs,
      attempt: 0,
    };
    saveCrawl(tx, ctx, row);
    const place = { accountId: ctx.accountId, crawlId: row.crawl_id };
    await queuePages(tx, place, { urls: first, firstNo: 0, depth: 0 });
    await openTurn(tx, ctx.accountId, CRAWL_WORK, nowMs);
    return showCrawl(row);
  });
}

/** What the guard says of it is told with the page. */
function requirePage(url: string, param: string): string {
  const page = pageUrl(url);
  if (page !== null) return page;
  throw problem('TARGET_REJECTED', { param, message: 'The URL must be http or https, without a user name.' });
}
