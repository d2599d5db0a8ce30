import Type, { type Static } from 'typebox';
import { findReplay } from '../../../core/idempotency/write.ts';
import { chargeForAnswer } from '../../../core/wallet/charge/charge-answer.ts';
import { answerResult, requireResultPlace } from '../../../files/result.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { textOrNull } from '../../../kit/fields.ts';
import { resultFields, resultWishFields } from '../../../kit/file-fields.ts';
import { alsoNamed, secondsOfMs } from '../../../kit/second-names.ts';
import { STORE_PRICES } from '../../../objects/limits.ts';
import { takeScreenshot } from '../browser/take.ts';
import { SHOT_FORMATS, type ShotWish } from '../browser/wire.ts';
import {
  SHOT,
  SHOT_HEIGHT_USUAL,
  SHOT_QUALITY_USUAL,
  SHOT_SIDE_MAX,
  SHOT_WAIT_SECONDS_MAX,
  SHOT_WIDTH_USUAL,
} from '../limits.ts';
import { urlField } from '../schemas.ts';
import type { WebState } from '../state.ts';

const side = (what: string, usual: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: SHOT_SIDE_MAX,
      description: `${what} of the window in pixels; ${usual} when absent.`,
    }),
  );

const inputSchema = Type.Object({
  url: urlField('Address of the page'),
  width: side('Width', SHOT_WIDTH_USUAL),
  height: side('Height', SHOT_HEIGHT_USUAL),
  full_page: Type.Optional(
    Type.Boolean({
      description: 'Whether the image is as long as the page, at most 10,000 pixels; false when absent.',
    }),
  ),
  format: Type.Optional(Type.Enum([...SHOT_FORMATS], { description: 'Format of the image; png when absent.' })),
  quality: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: `Quality of jpeg and webp; ${SHOT_QUALITY_USUAL} when absent.`,
    }),
  ),
  wait_seconds: alsoNamed(
    Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: SHOT_WAIT_SECONDS_MAX,
        description: 'How long to wait after the page has loaded, in part seconds too; 0 when absent.',
      }),
    ),
    { wait_ms: secondsOfMs },
  ),
  dark: Type.Optional(
    Type.Boolean({ description: 'Whether the page is told to prefer dark colors; false when absent.' }),
  ),
  ...resultWishFields,
});

export const screenshot = defineCapability<WebState>()({
  method: 'POST',
  path: '/v1/web/screenshot',
  summary: 'Takes a screenshot of a web page.',
  description:
    'Shows one page in a browser and answers with a link of 1 h to the image, or the bytes with inline. Scripts of the page run, without ' +
    'cookies, and send nothing but GET requests to public hosts. robots.txt of the page is obeyed, and its host is asked once a second. ' +
    'Without a browser (CHROMIUM_PATH) it answers VENDOR_NOT_AVAILABLE. Nothing is stored unless you send store.',
  keywords: ['capture a web page', 'render a page', 'webpage thumbnail', 'headless chrome'],
  input: inputSchema,
  output: Type.Object({
    page_url: Type.String({ description: 'Of the page, after redirects.' }),
    status: Type.Integer({ description: 'The status that the site answered with; a page of an error has one too.' }),
    title: textOrNull('Title of the page.'),
    width: Type.Integer({ description: 'Of the image, in pixels.' }),
    height: Type.Integer({ description: 'Of the image, in pixels.' }),
    ...resultFields,
  }),
  price: SHOT,
  laterPrices: STORE_PRICES,
  isLongRead: true,
  waits: true,
  errors: [
    ...['TARGET_REJECTED', 'ROBOTS_DISALLOWED', 'TARGET_FAILED', 'VENDOR_NOT_AVAILABLE', 'RATE_LIMITED'],
    ...['CONCURRENCY_LIMITED', 'OVERLOADED', 'BUCKET_NOT_FOUND'],
  ],
  events: ['wallet.low_balance'],
  limits: {
    page: '200 requests and 20 MiB, 10 MiB of them the page itself.',
    image: '2,560 pixels a side, 10,000 with full_page.',
    time: '30 s.',
    host: 'One page a second.',
  },
  examples: [
    {
      title: 'A page, as a link to an image',
      input: { url: 'https://docs.example.org/keys', full_page: true, format: 'jpeg' },
      expect: {
        status: 200,
        title: 'Keys',
        width: 1_280,
        height: 800,
        content_type: 'image/jpeg',
        content_base64: null,
      },
    },
  ],
  async run({ ctx, input, state }) {
    const replay = await findReplay(ctx);
    if (replay !== null) return replay;
    state.browsers.requireBrowser();
    await requireResultPlace(ctx, input);
    ctx.idle();
    return chargeForAnswer(ctx, state.shooting, 1n, async () => {
      const wish = wishOf(input);
      const shot = await takeScreenshot(state, ctx.accountId, input.url, wish, {
        signal: ctx.signal,
        hold: (bytes) => ctx.holdAnswer(bytes),
      });
      ctx.holdMade(shot.bytes.length);
      const { url, status, title, width, height } = shot;
      const result = await answerResult(ctx, shot.bytes, {
        contentType: `image/${wish.format}`,
        filename: `screenshot.${wish.format}`,
        inline: input.inline,
        store: input.store,
      });
      return JSON.stringify({ page_url: url, status, title, width, height, ...result });
    });
  },
});

function wishOf(input: Static<typeof inputSchema>): ShotWish {
  return {
    width: input.width ?? SHOT_WIDTH_USUAL,
    height: input.height ?? SHOT_HEIGHT_USUAL,
    isFullPage: input.full_page ?? false,
    format: input.format ?? 'png',
    quality: input.quality ?? SHOT_QUALITY_USUAL,
    waitMs: (input.wait_seconds ?? 0) * 1_000,
    isDark: input.dark ?? false,
  };
}
