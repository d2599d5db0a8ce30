import Type from 'typebox';
import { LIMIT_DEFAULT, listPage } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageFields } from '../../../../kit/fields.ts';
import { requireRow } from '../../../../kit/resource.ts';
import { crawls } from '../../crawl/resource.ts';
import { crawledPageSchema, crawlIdField, crawlSchema, showCrawl, showPage } from '../../crawl/schemas.ts';
import { endedPages, type PageRow } from '../../crawl/store.ts';
import { CRAWL_ANSWER_BYTES, CRAWL_CONTENT_BYTES } from '../../limits.ts';
import type { WebState } from '../../state.ts';

export const getCrawl = defineCapability<WebState>()({
  method: 'GET',
  path: '/v1/web/crawl/get/{crawl_id}',
  summary: 'Shows a crawl and the pages that it has read.',
  description:
    'Pages come in the order in which they were found, page by page; an answer has at most 2 MiB of them. While the crawl runs, ask again with the ' +
    'last next_cursor, or without a cursor.',
  keywords: ['crawl status', 'crawl results', 'pages of a crawl'],
  input: Type.Object({ crawl_id: crawlIdField, cursor: cursorField, limit: limitField }),
  output: Type.Object({
    ...crawlSchema.properties,
    items: Type.Array(crawledPageSchema, { description: 'Pages that were read, or could not be.' }),
    ...pageFields,
  }),
  errors: ['CRAWL_NOT_FOUND', 'INVALID_CURSOR'],
  examples: [
    {
      title: 'One that has just begun',
      before: [{ capability: 'web.crawl', input: { url: 'https://docs.example.org/', limit: 1 } }],
      input: { crawl_id: '$0.crawl_id' },
      expect: { limit: 1 },
    },
  ],
  async run({ ctx, input }) {
    const row = await requireRow(crawls, ctx.core.db, ctx, input.crawl_id);
    const place = { accountId: ctx.accountId, crawlId: row.crawl_id };
    // Pages of 256 KiB: as many as an answer takes, whatever was asked for.
    const limit = Math.min(input.limit ?? LIMIT_DEFAULT, Math.floor(CRAWL_ANSWER_BYTES / CRAWL_CONTENT_BYTES));
    const { items, ...page } = await listPage<PageRow>(
      ctx,
      { ...input, limit },
      {
        filters: [row.crawl_id],
        read: (after, rows) => endedPages(ctx.core.db, place, Number(after ?? -1), rows),
        positionOf: ({ page_no }) => page_no,
      },
    );
    ctx.holdMade(items.reduce((sum, { page: json }) => sum + 2 * (json?.length ?? 0), 0));
    return { data: { ...showCrawl(row), items: items.map(showPage), ...page } };
  },
});
