// Crawls and batches of the Firecrawl API. Both are crawls here; a batch follows no links.
import { json, jsonFields } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import { requireRow } from '../../../kit/resource.ts';
import { HOUR_MS, iso } from '../../../lib/time.ts';
import { invalidField } from '../../../problems/problem.ts';
import { beginCrawl } from '../crawl/begin.ts';
import { crawls } from '../crawl/resource.ts';
import { showPage } from '../crawl/schemas.ts';
import { endedPages, failedPages, wishOf } from '../crawl/store.ts';
import {
  CRAWL_ANSWER_BYTES,
  CRAWL_CONTENT_BYTES,
  CRAWL_DEPTH_MAX,
  CRAWL_KEPT_HOURS,
  CRAWL_PAGES_MAX,
  CRAWL_PAGES_USUAL,
} from '../limits.ts';
import type { WebState } from '../state.ts';
import { metadataOf } from './answers.ts';
import { dataOf } from './calls.ts';
import { checkOptions, crawlFormat, patternsOf, textField, wholeField } from './options.ts';

const PAGES_AN_ANSWER = Math.floor(CRAWL_ANSWER_BYTES / CRAWL_CONTENT_BYTES);
const states = { running: 'scraping', completed: 'completed', cancelled: 'cancelled', failed: 'failed' } as const;

export type Kind = 'crawl' | 'batch/scrape';

export async function startCrawl(request: RawRequest, web: WebState): Promise<RawAnswer> {
  await request.admitCall('web.crawl');
  const fields = jsonFields(request.body);
  checkOptions(fields);
  const scrapeOptions = (fields.scrapeOptions ?? {}) as Readonly<Record<string, unknown>>;
  const url = textField(fields, 'url');
  const wish = {
    ...crawlFormat(scrapeOptions, 'scrapeOptions.'),
    render: 'auto' as const,
    // As Firecrawl has it: only what lies below the first page, unless the whole host is asked for.
    ...(fields.crawlEntireDomain !== true && { below: URL.parse(url)?.pathname ?? '/' }),
    limit: Math.max(1, wholeField(fields, 'limit', CRAWL_PAGES_MAX) ?? CRAWL_PAGES_USUAL),
    depth: wholeField(fields, 'maxDiscoveryDepth', CRAWL_DEPTH_MAX) ?? CRAWL_DEPTH_MAX,
    include: patternsOf(fields.includePaths, 'includePaths'),
    exclude: patternsOf(fields.excludePaths, 'excludePaths'),
  };
  return startAndAnswer(request, web, 'crawl', [url], wish);
}

export async function startBatch(request: RawRequest, web: WebState): Promise<RawAnswer> {
  await request.admitCall('web.crawl');
  const fields = jsonFields(request.body);
  const { urls } = fields;
  if (!Array.isArray(urls) || urls.length === 0 || !urls.every((url) => typeof url === 'string')) {
    throw invalidField('urls', 'required', 'urls must be a list of URLs.');
  }
  if (urls.length > CRAWL_PAGES_MAX)
    throw invalidField('urls', 'too_many', `urls may have at most ${CRAWL_PAGES_MAX}.`);
  const wish = {
    ...crawlFormat(fields),
    render: 'auto' as const,
    limit: urls.length,
    depth: 0,
    include: [],
    exclude: [],
  };
  return startAndAnswer(request, web, 'batch/scrape', urls, wish);
}

async function startAndAnswer(
  request: RawRequest,
  web: WebState,
  kind: Kind,
  urls: readonly string[],
  wish: Parameters<typeof beginCrawl>[2],
) {
  const answer = await request.perform('web.crawl', (ctx) =>
    beginCrawl(ctx, urls, wish, kind === 'crawl' ? 'url' : 'urls'),
  );
  const { crawl_id } = await dataOf<{ crawl_id: string }>(answer);
  return json({ success: true, id: crawl_id, url: `${web.core.baseUrl}${ROOT}/${kind}/${crawl_id}` });
}

export function readCrawl(kind: Kind) {
  return async (request: RawRequest, web: WebState): Promise<RawAnswer> => {
    const after = request.query.get('skip') ?? '-1';
    const { data } = await request.perform('web.crawl.get', async (ctx) => {
      const { db } = ctx.core;
      const row = await requireRow(crawls, db, ctx, request.params.id ?? '');
      const place = { accountId: ctx.accountId, crawlId: row.crawl_id };
      const pages = await endedPages(db, place, /^-?\d{1,6}$/.test(after) ? Number(after) : -1, PAGES_AN_ANSWER + 1);
      const shown = pages.slice(0, PAGES_AN_ANSWER);
      ctx.holdMade(shown.reduce((sum, { page }) => sum + 2 * (page?.length ?? 0), 0));
      const { limit, format } = wishOf(row);
      const next = pages.length > PAGES_AN_ANSWER ? shown.at(-1)?.page_no : undefined;
      const endsMs = (row.finished_at ?? Date.now()) + CRAWL_KEPT_HOURS * HOUR_MS;
      return {
        data: {
          success: true,
          status: states[row.status],
          completed: row.pages,
          total: Math.min(limit, row.next_no),
          creditsUsed: row.pages,
          expiresAt: iso(endsMs),
          ...(row.reason !== null && { error: row.reason }),
          ...(next !== undefined && { next: `${web.core.baseUrl}${ROOT}/${kind}/${row.crawl_id}?skip=${next}` }),
          data: shown.flatMap((each) => {
            if (each.page === null) return [];
            const { content, ...page } = showPage(each);
            return [{ [format]: content, metadata: metadataOf(page, each.url) }];
          }),
        },
      };
    });
    return json(data as object);
  };
}

export async function readErrors(request: RawRequest): Promise<RawAnswer> {
  const { data } = await request.perform('web.crawl.get', async (ctx) => {
    const row = await requireRow(crawls, ctx.core.db, ctx, request.params.id ?? '');
    const failed = await failedPages(ctx.core.db, { accountId: ctx.accountId, crawlId: row.crawl_id });
    const [blocked, others] = [true, false].map((is) =>
      failed.filter((page) => (page.error_code === 'ROBOTS_DISALLOWED') === is),
    );
    return {
      data: {
        errors: (others ?? []).map(({ page_no, url, error_code, read_at }) => ({
          id: `${row.crawl_id}.${page_no}`,
          timestamp: iso(read_at),
          url,
          error: error_code,
        })),
        robotsBlocked: (blocked ?? []).map(({ url }) => url),
      },
    };
  });
  return json(data as object);
}

export async function cancelCrawl(request: RawRequest): Promise<RawAnswer> {
  const outcome = await request.invoke('web.crawl.cancel', { crawl_id: request.params.id ?? '' });
  if (outcome.answer === null) throw outcome.problem as Error;
  await dataOf(outcome.answer);
  return json({ success: true, status: 'cancelled' });
}

export async function activeCrawls(request: RawRequest): Promise<RawAnswer> {
  const outcome = await request.invoke('web.crawl.list', { limit: 100 });
  if (outcome.answer === null) throw outcome.problem as Error;
  const { items } = await dataOf<{ items: readonly { crawl_id: string; url: string; status: string }[] }>(
    outcome.answer,
  );
  const running = items.filter(({ status }) => status === 'running');
  return json({ success: true, crawls: running.map(({ crawl_id: id, url }) => ({ id, url })) });
}

export const ROOT = '/v1/web/firecrawl/v2';
