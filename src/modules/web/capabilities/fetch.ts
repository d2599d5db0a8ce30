import Type from 'typebox';
import { chargeForAnswer } from '../../../core/wallet/charge/charge-answer.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { orNull } from '../../../kit/fields.ts';
import { usd } from '../../../lib/money.ts';
import { type Page, readPage } from '../fetch/page.ts';
import { structuredReader } from '../fetch/structured.ts';
import { CONTENT_BYTES_MAX, CONTENT_BYTES_USUAL, LINKS_MAX } from '../limits.ts';
import { mainContentField, pageFields, urlField } from '../schemas.ts';
import type { WebState } from '../state.ts';

export const fetch = defineCapability<WebState>()({
  method: 'POST',
  path: '/v1/web/fetch',
  summary: 'Reads a web page as Markdown, text, HTML or JSON.',
  description:
    'Fetches one page and answers with its main content. HTML, PDF, plain text, JSON and XML are read; scripts do not run. The site is asked ' +
    'politely: its robots.txt is obeyed, and each host gets one request a second, so a call may wait. With format json a language model fills ' +
    'your schema from the page; its cost stands in ai_cost_usd.',
  keywords: ['scrape a web page', 'url to markdown', 'read a website', 'extract article text', 'html to markdown'],
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
  // With format json.
  laterPrices: ['ai.chat'],
  isLongRead: true,
  waits: true,
  errors: [
    ...['TARGET_REJECTED', 'ROBOTS_DISALLOWED', 'TARGET_FAILED', 'RATE_LIMITED', 'CONCURRENCY_LIMITED', 'OVERLOADED'],
    ...['MODEL_NOT_FOUND'],
  ],
  events: ['wallet.low_balance'],
  limits: {
    page: '10 MiB, 20 s, five redirects.',
    content: '2 MiB.',
    host: 'One request a second.',
  },
  examples: [
    {
      title: 'A page as Markdown',
      input: { url: 'https://docs.example.org/keys' },
      expect: { status: 200, title: 'Keys', language: 'en', truncated: false },
    },
  ],
  async run({ ctx, input, state }) {
    const {
      url,
      format = 'markdown',
      bytes_max: bytesMax = CONTENT_BYTES_USUAL,
      main_content: mainContent = true,
    } = input;
    const wish = { url, mainContent, links: input.links ?? false, bytesMax };
    const ask = structuredReader(input);
    return chargeForAnswer(ctx, state.fetching, 1n, async () => {
      ctx.idle();
      const page = await readPage(
        state,
        ctx.accountId,
        { ...wish, format: format === 'json' ? 'markdown' : format },
        ctx.signal,
        (bytes) => ctx.holdAnswer(bytes),
      );
      ctx.holdMade(2 * page.content.length);
      const made = ask === null ? null : await ask(ctx, page);
      return JSON.stringify({
        ...pageRecord(page),
        links: wish.links ? page.links : null,
        json: made?.json ?? null,
        ai_cost_usd: made === null ? null : usd(made.costNanos),
      });
    });
  },
});

/** As operations answer it. */
export function pageRecord(page: Page) {
  const { url, status, title, byline, description, language, content, contentHash, truncated } = page;
  return { url, status, title, byline, description, language, content, content_hash: contentHash, truncated };
}
