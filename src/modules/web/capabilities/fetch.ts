import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { orNull } from '../../../kit/fields.ts';
import { usd } from '../../../lib/money.ts';
import { chargeForPage, warnOfRendering } from '../fetch/charge.ts';
import { type RenderedPage, readRendered } from '../fetch/rendered.ts';
import { structuredReader } from '../fetch/structured.ts';
import { CONTENT_BYTES_MAX, CONTENT_BYTES_USUAL, DRAWN, LINKS_MAX } from '../limits.ts';
import { mainContentField, pageFields, renderFields, renderWish, urlField } from '../schemas.ts';
import type { WebState } from '../state.ts';

export const fetch = defineCapability<WebState>()({
  method: 'POST',
  path: '/v1/web/fetch',
  summary: 'Reads a web page as Markdown, text, HTML or JSON.',
  description:
    'Fetches one page and answers with its main content. HTML, PDF, plain text, JSON and XML are read. A page that scripts draw is drawn in a ' +
    'browser (render), for 0.002 USD in place of 0.0002; `rendered` says so. robots.txt is obeyed, and each host gets one request a second, so a ' +
    'call may wait. With format json a language model fills your schema from the page; its cost stands in ai_cost_usd.',
  keywords: [
    'javascript page',
    'single-page application',
    'scrape a web page',
    'url to markdown',
    'read a website',
    'extract article text',
    'html to markdown',
  ],
  input: Type.Object({
    url: urlField('Address of the page'),
    format: Type.Optional(
      Type.Enum(['markdown', 'text', 'html', 'json'], { description: 'Format of content; markdown when absent.' }),
    ),
    schema: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description: 'JSON Schema of json; required with format json.',
      }),
    ),
    model: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Model for format json; auto when absent.' }),
    ),
    ...renderFields,
    main_content: mainContentField,
    links: Type.Optional(Type.Boolean({ description: 'Whether to list the links of the page; false when absent.' })),
    bytes_max: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: CONTENT_BYTES_MAX,
        description: `Longest content in bytes of UTF-8; ${CONTENT_BYTES_USUAL} when absent.`,
      }),
    ),
  }),
  output: Type.Object({
    ...pageFields,
    links: orNull<string[]>(
      { type: 'array', items: { type: 'string' } },
      `Links of the whole page, absolute, at most ${LINKS_MAX}; null unless asked for.`,
    ),
    json: Type.Unknown({ description: 'What the model made of the page by your schema; null in other formats.' }),
    ai_cost_usd: orNull<number>({ type: 'number' }, 'What the model cost beside this call; null in other formats.'),
  }),
  price: 'web.fetch',
  // With format json, and of a page that is drawn.
  laterPrices: ['ai.chat', DRAWN],
  isLongRead: true,
  waits: true,
  errors: [
    ...['TARGET_REJECTED', 'ROBOTS_DISALLOWED', 'TARGET_FAILED', 'RATE_LIMITED', 'CONCURRENCY_LIMITED', 'OVERLOADED'],
    ...['MODEL_NOT_FOUND', 'VENDOR_NOT_AVAILABLE'],
  ],
  events: ['wallet.low_balance'],
  limits: {
    page: '10 MiB, 20 s, five redirects.',
    drawn: '30 s, 200 requests and 20 MiB.',
    content: '2 MiB.',
    host: 'One request a second.',
  },
  examples: [
    {
      title: 'A page as Markdown',
      input: { url: 'https://docs.example.org/keys' },
      expect: { status: 200, title: 'Keys', language: 'en', truncated: false, rendered: false, render_error: null },
    },
  ],
  async run({ ctx, input, state }) {
    const {
      url,
      format = 'markdown',
      bytes_max: bytesMax = CONTENT_BYTES_USUAL,
      main_content: mainContent = true,
    } = input;
    const wish = { url, mainContent, links: input.links ?? false, bytesMax, ...renderWish(input) };
    const ask = structuredReader(input);
    if (wish.render === 'always') state.browsers.requireBrowser();
    return chargeForPage(ctx, state, wish, async () => {
      ctx.idle();
      const of = { ...wish, format: format === 'json' ? 'markdown' : format } as const;
      const options = { signal: ctx.signal, hold: (bytes: number) => ctx.holdAnswer(bytes) };
      const page = await readRendered(state, ctx.accountId, of, options);
      warnOfRendering(ctx, page.renderError);
      ctx.holdMade(2 * page.content.length);
      const made = ask === null ? null : await ask(ctx, page);
      const text = JSON.stringify({
        ...pageRecord(page),
        links: wish.links ? page.links : null,
        json: made?.json ?? null,
        ai_cost_usd: made === null ? null : usd(made.costNanos),
      });
      return { text, rendered: page.rendered };
    });
  },
});

/** As operations answer it. */
function pageRecord(page: RenderedPage) {
  const { url, status, title, byline, description, language, content, contentHash, truncated } = page;
  const { rendered, renderError: render_error } = page;
  const told = { url, status, title, byline, description, language, content, content_hash: contentHash, truncated };
  return { ...told, rendered, render_error };
}
