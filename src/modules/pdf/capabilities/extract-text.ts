import Type, { type Static } from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { sourceField } from '../../../kit/file-fields.ts';
import { READ_PRICE } from '../../../objects/limits.ts';
import { FILE_BODY_BYTES_MAX } from '../limits.ts';
import { chargePages } from '../operations/paid.ts';
import { readPdf, withBytes } from '../operations/sources.ts';
import { RANGES_WORDS, rangesField } from '../schemas.ts';
import type { PdfState } from '../state.ts';
import { PAGE } from './examples.ts';

const textSchema = Type.Object({
  source: sourceField('The PDF.'),
  pages: Type.Optional(rangesField(`${RANGES_WORDS} All when not sent.`)),
});

export const extractText = defineCapability<PdfState>()({
  method: 'POST',
  path: '/v1/pdf/extract_text',
  summary: 'Reads the text of a PDF.',
  description:
    'Page by page, in the order in which the page draws it. A scanned page is a picture and has no text: its text comes back empty.',
  keywords: ['pdf to text', 'parse pdf', 'pdftotext', 'read pdf content', 'rag document loader'],
  input: textSchema,
  output: Type.Object({
    pages: Type.Array(
      Type.Object({
        page: Type.Integer({ minimum: 1, description: 'Its number.' }),
        text: Type.String({ description: 'Its text, line by line.' }),
      }),
      { description: 'In the order of pages.' },
    ),
  }),
  price: 'pdf.extract_text',
  laterPrices: [READ_PRICE],
  isLongRead: true,
  bodyBytesMax: FILE_BODY_BYTES_MAX,
  bulk: { source: import.meta.url, reduce: (value: Static<typeof textSchema>) => withBytes(value) },
  errors: ['BUCKET_NOT_FOUND', 'OBJECT_NOT_FOUND', 'CONCURRENCY_LIMITED', 'OVERLOADED'],
  events: ['wallet.low_balance'],
  limits: { source: '20 MiB.', pages: '500.', text: '2 MiB a call.', time: '30 s.' },
  examples: [
    {
      title: 'Of all pages',
      input: { source: { content_base64: PAGE } },
      expect: { pages: [{ page: 1, text: 'Minutes' }] },
    },
  ],
  run: ({ ctx, input, state: { engines } }) =>
    chargePages(ctx, async (pagesMax) => {
      const source = await readPdf(ctx, input.source);
      const task = { kind: 'text', source, pages: input.pages ?? null, pagesMax } as const;
      const { pages } = await engines.run(ctx, task, 'text');
      ctx.holdMade(2 * pages.reduce((sum, { text }) => sum + text.length, 0));
      return { pages: pages.length, data: { pages } };
    }),
});
