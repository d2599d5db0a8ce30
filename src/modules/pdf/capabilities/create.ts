import Type, { type Static } from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { plainText } from '../../../kit/fields.ts';
import { resultFields, resultWishFields } from '../../../kit/file-fields.ts';
import { STORE_PRICES } from '../../../objects/limits.ts';
import { invalidField } from '../../../problems/problem.ts';
import { CONTENT_BYTES_MAX, CREATE_BODY_BYTES_MAX } from '../limits.ts';
import { answerPdf } from '../operations/answer.ts';
import { chargePages } from '../operations/paid.ts';
import { pageFormat } from '../page.ts';
import { marginTextField, pageField, pagesField } from '../schemas.ts';
import type { PdfState } from '../state.ts';

const createSchema = Type.Object({
  type: Type.Enum(['html', 'markdown', 'text'], { description: 'What content is.' }),
  content: Type.String({ minLength: 1, description: 'HTML, Markdown (GFM) or plain text; at most 2 MiB.' }),
  page: Type.Optional(pageField),
  header: marginTextField('above'),
  footer: marginTextField('below'),
  title: Type.Optional(plainText(200, 'Title of the document; that of the HTML when not sent.')),
  engine: Type.Optional(
    Type.Enum(['auto', 'document', 'browser'], {
      description:
        '`document`: layout without a browser. `browser`: full CSS, where the service has one. `auto` (when not sent): the ' +
        'document engine, or the browser for HTML whose CSS needs it.',
    }),
  ),
  ...resultWishFields,
});

export const create = defineCapability<PdfState>()({
  method: 'POST',
  path: '/v1/pdf/create',
  summary: 'Makes a PDF from HTML, Markdown or text.',
  description:
    'Answers with a link of 1 h, or the bytes with inline. The document engine knows headings, text styles, lists, tables with repeated heads, ' +
    'SVG, images (PNG and JPEG, from data: or https), links and page breaks (`break-before: page`); metadata.warnings names what it ignored. ' +
    'Scripts never run. Nothing is stored unless you send store.',
  keywords: ['html to pdf', 'markdown to pdf', 'create invoice pdf', 'print report', 'puppeteer', 'wkhtmltopdf'],
  input: createSchema,
  output: Type.Object({
    pages: pagesField,
    engine: Type.Enum(['document', 'browser'], { description: 'Which one made it.' }),
    ...resultFields,
  }),
  price: 'pdf.create',
  laterPrices: STORE_PRICES,
  bodyBytesMax: CREATE_BODY_BYTES_MAX,
  // Content may be long.
  bulk: { source: import.meta.url, reduce: (value: Static<typeof createSchema>) => limitContent(value) },
  errors: ['BUCKET_NOT_FOUND', 'OBJECT_NOT_FOUND', 'CONCURRENCY_LIMITED', 'OVERLOADED'],
  events: ['wallet.low_balance'],
  limits: {
    content: '2 MiB, 100,000 elements, 150 levels deep.',
    pages: '500.',
    images: '100 of 20 MiB together; each 25 megapixels.',
    time: '30 s.',
  },
  examples: [
    {
      title: 'A page from Markdown',
      input: { type: 'markdown', content: '# Invoice 7\n\n| Item | USD |\n|---|---|\n| Tea | 3.20 |', inline: true },
      expect: { pages: 1, content_type: 'application/pdf', engine: 'document' },
    },
    {
      title: 'HTML on landscape paper, as a link',
      input: {
        type: 'html',
        content: '<h1>Report</h1><p>All is <b>well</b>.</p>',
        page: { size: 'A4', landscape: true, margins: { top: 15 } },
        footer: 'Page {page} of {pages}',
      },
      expect: { pages: 1, content_base64: null },
    },
  ],
  run: ({ ctx, input, state }) =>
    chargePages(ctx, (pagesMax) =>
      answerPdf(ctx, state, input, `${input.title ?? 'document'}.pdf`, async () => ({
        ...({ kind: 'create', type: input.type, content: input.content, pagesMax } as const),
        header: lineOf(input.header),
        footer: lineOf(input.footer),
        title: input.title ?? null,
        assets: [],
        onlyPages: null,
        scale: 1,
        engine: input.engine ?? 'auto',
        page: pageFormat(input.page?.size ?? 'A4', input.page?.landscape ?? false, input.page?.margins ?? {}),
      })),
    ),
});

function limitContent(value: Static<typeof createSchema>) {
  if (Buffer.byteLength(value.content) > CONTENT_BYTES_MAX)
    throw invalidField('content', 'too_large', 'The content has more than 2 MiB.');
  return { value, transfer: [] };
}

const lineOf = (text: string | null | undefined) => (text == null ? null : { text });
