// Schemas and records of crawls and their pages.
import Type from 'typebox';
import { instant, instantOrNull, textOrNull } from '../../../kit/fields.ts';
import { usd } from '../../../lib/money.ts';
import { iso } from '../../../lib/time.ts';

import type { Page } from '../fetch/page.ts';
import type { RenderedPage } from '../fetch/rendered.ts';
import { pageFields } from '../schemas.ts';
import { type CrawlRow, type PageRow, wishOf } from './store.ts';

export const crawlIdField = Type.String({
  pattern: '^crawl_[0-9A-Za-z]{20,40}$',
  description: 'Id of the crawl.',
});

export const crawlSchema = Type.Object({
  crawl_id: crawlIdField,
  url: Type.String({ description: 'Where it began.' }),
  status: Type.Enum(['running', 'completed', 'cancelled', 'failed'], { description: 'How it stands.' }),
  reason: textOrNull(
    'Why it ended early: insufficient_credit, budget_daily, budget_monthly, key_cap, key_ended, insufficient_scope, suspended, frozen, time.',
  ),
  limit: Type.Integer({ description: 'Pages that it reads at most.' }),
  depth: Type.Integer({ description: 'How many links away from the first page it goes.' }),
  pages_read: Type.Integer({ description: 'Pages that were read, each charged as a fetch.' }),
  pages_failed: Type.Integer({ description: 'Pages that could not be read; they are free.' }),
  cost_usd: Type.Number({ description: 'What its pages cost so far.' }),
  created_at: instant('When it began.'),
  finished_at: instantOrNull('When it ended; it is kept for 24 hours from then.'),
});

export const crawledPageSchema = Type.Object({
  ...pageFields,
  status: Type.Union([pageFields.status, Type.Null()], {
    description: 'The status that the site answered with; null for a page that could not be read.',
  }),
  depth: Type.Integer({ description: 'Links between the first page and this one.' }),
  error: textOrNull('Error code of a page that could not be read; null otherwise.'),
});

export function showCrawl(row: CrawlRow) {
  const { crawl_id, url, status, reason, pages, failures, cost_nanos, created_at, finished_at } = row;
  const { limit, depth } = wishOf(row);
  return {
    crawl_id,
    url,
    status,
    reason,
    limit,
    depth,
    pages_read: pages,
    pages_failed: failures,
    cost_usd: usd(cost_nanos),
    created_at: iso(created_at),
    finished_at: finished_at === null ? null : iso(finished_at),
  };
}

const unread = {
  title: null,
  byline: null,
  description: null,
  language: null,
  content: '',
  content_hash: '',
  rendered: false,
  render_error: null,
};

/** An earlier release kept nothing of rendering. */
type KeptPage = Page & Partial<Pick<RenderedPage, 'rendered' | 'renderError'>>;

export function showPage({ url, depth, page: json, error_code }: PageRow) {
  if (json === null) return { ...unread, url, status: null, truncated: false, depth, error: error_code };
  const { contentHash, renderError = null, rendered = false, ...kept } = JSON.parse(json) as KeptPage;
  const { contentType: _, links: __, isShell: ___, ...page } = kept;
  return { ...page, content_hash: contentHash, rendered, render_error: renderError, depth, error: null };
}
