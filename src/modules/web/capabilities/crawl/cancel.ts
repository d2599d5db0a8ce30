import Type from 'typebox';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { requireRow } from '../../../../kit/resource.ts';
import { crawls } from '../../crawl/resource.ts';
import { crawlIdField, crawlSchema, showCrawl } from '../../crawl/schemas.ts';
import { saveCrawl } from '../../crawl/store.ts';
import type { WebState } from '../../state.ts';

export const cancelCrawl = defineCapability<WebState>()({
  method: 'POST',
  path: '/v1/web/crawl/cancel/{crawl_id}',
  summary: 'Cancels a crawl.',
  description:
    'From the answer on no page is charged or kept. What was read stays for 24 hours. A crawl that has ended stays as it is, and is answered.',
  keywords: ['stop a crawl', 'abort crawling'],
  input: Type.Object({ crawl_id: crawlIdField }),
  output: crawlSchema,
  errors: ['CRAWL_NOT_FOUND'],
  examples: [
    {
      title: 'One that runs',
      before: [{ capability: 'web.crawl', input: { url: 'https://docs.example.org/', limit: 1 } }],
      input: { crawl_id: '$0.crawl_id' },
    },
  ],
  run: ({ ctx, input }) =>
    runWrite(ctx, async (tx, { nowMs }) => {
      const row = await requireRow(crawls, tx, ctx, input.crawl_id);
      if (row.status !== 'running') return showCrawl(row);
      return showCrawl(saveCrawl(tx, ctx, { ...row, status: 'cancelled', finished_at: nowMs, due_at: null }));
    }),
});
