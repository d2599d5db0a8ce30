import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { beginCrawl } from '../../crawl/begin.ts';
import { crawlSchema } from '../../crawl/schemas.ts';
import {
  CRAWL_DEPTH_MAX,
  CRAWL_DEPTH_USUAL,
  CRAWL_PAGES_MAX,
  CRAWL_PAGES_USUAL,
  DRAWN,
  FETCH,
  PATTERN_CHARACTERS_MAX,
  PATTERNS_MAX,
} from '../../limits.ts';
import { PAGE_FORMATS } from '../../read/wire.ts';
import { mainContentField, renderFields, renderWish, urlField } from '../../schemas.ts';
import type { WebState } from '../../state.ts';

const patterns = (what: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: PATTERN_CHARACTERS_MAX }), {
      maxItems: PATTERNS_MAX,
      description: `${what} A pattern is the beginning of a path, with * for anything and $ for its end: /docs/*.`,
    }),
  );

export const crawl = defineCapability<WebState>()({
  method: 'POST',
  path: '/v1/web/crawl',
  summary: 'Reads a site page by page, in the background.',
  description:
    'Begins with one page and follows the links to its own host, one page a second, as robots.txt allows. Each page that is read costs as much as a ' +
    'fetch, drawn or not; a page that cannot be read is free. Ask GET /v1/web/crawl/get/{crawl_id} for the pages: they are kept for 24 hours after the end.',
  keywords: ['crawl a website', 'scrape a whole site', 'spider', 'download documentation site'],
  input: Type.Object({
    url: urlField('The first page'),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: CRAWL_PAGES_MAX,
        description: `Pages that are read at most; ${CRAWL_PAGES_USUAL} when absent.`,
      }),
    ),
    depth: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: CRAWL_DEPTH_MAX,
        description: `How many links away from the first page it goes; ${CRAWL_DEPTH_USUAL} when absent.`,
      }),
    ),
    include: patterns('Follow only these paths; all when absent.'),
    exclude: patterns('Do not follow these paths.'),
    format: Type.Optional(Type.Enum([...PAGE_FORMATS], { description: 'Format of content; markdown when absent.' })),
    ...renderFields,
    main_content: mainContentField,
  }),
  output: crawlSchema,
  laterPrices: [FETCH, DRAWN],
  errors: ['TARGET_REJECTED', 'QUOTA_EXCEEDED', 'VENDOR_NOT_AVAILABLE'],
  limits: {
    crawls: '2 at once (standard tier), 10 (pro), 50 (enterprise).',
    pages: '100 a crawl, 256 KiB of content each; an hour.',
  },
  examples: [
    {
      title: 'A documentation site',
      input: { url: 'https://docs.example.org/', limit: 2, depth: 1 },
      expect: { status: 'running', limit: 2, pages_read: 0 },
    },
  ],
  async run({ ctx, input, state }) {
    const rendering = renderWish(input);
    if (rendering.render === 'always') state.browsers.requireBrowser();
    return beginCrawl(
      ctx,
      [input.url],
      {
        ...rendering,
        format: input.format ?? 'markdown',
        mainContent: input.main_content ?? true,
        limit: input.limit ?? CRAWL_PAGES_USUAL,
        depth: input.depth ?? CRAWL_DEPTH_USUAL,
        include: input.include ?? [],
        exclude: input.exclude ?? [],
      },
      'url',
    );
  },
});
