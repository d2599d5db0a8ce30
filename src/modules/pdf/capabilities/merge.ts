import Type, { type Static } from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { resultWishFields, sourceField } from '../../../kit/file-fields.ts';
import { READ_PRICE, STORE_PRICES } from '../../../objects/limits.ts';
import { FILE_BODY_BYTES_MAX, SOURCES_MAX } from '../limits.ts';
import { answerPdf } from '../operations/answer.ts';
import { chargePages } from '../operations/paid.ts';
import { readPdfs, withAllBytes } from '../operations/sources.ts';
import { madeSchema } from '../schemas.ts';
import type { PdfState } from '../state.ts';
import { BLANK_PAGE, PAGE } from './examples.ts';

const mergeSchema = Type.Object({
  sources: Type.Array(sourceField('A PDF.'), {
    minItems: 2,
    maxItems: SOURCES_MAX,
    description: `2 to ${SOURCES_MAX} PDFs, in their order.`,
  }),
  ...resultWishFields,
});

export const merge = defineCapability<PdfState>()({
  method: 'POST',
  path: '/v1/pdf/merge',
  summary: 'Puts PDFs together.',
  description: 'One PDF with the pages of all, in the order of sources. Forms are shown, and can no longer be filled.',
  keywords: ['join pdf files', 'combine pdfs', 'concatenate pdf', 'append pages'],
  input: mergeSchema,
  output: madeSchema,
  price: 'pdf.merge',
  laterPrices: [READ_PRICE, ...STORE_PRICES],
  bodyBytesMax: FILE_BODY_BYTES_MAX,
  bulk: { source: import.meta.url, reduce: (value: Static<typeof mergeSchema>) => withAllBytes(value) },
  errors: ['BUCKET_NOT_FOUND', 'OBJECT_NOT_FOUND', 'CONCURRENCY_LIMITED', 'OVERLOADED'],
  events: ['wallet.low_balance'],
  limits: { sources: `${SOURCES_MAX}, 20 MiB together.`, pages: '500 in all.', time: '30 s.' },
  examples: [
    {
      title: 'Two PDFs',
      input: { sources: [{ content_base64: PAGE }, { content_base64: BLANK_PAGE }], inline: true },
      expect: { pages: 2 },
    },
  ],
  run: ({ ctx, input, state }) =>
    chargePages(ctx, (pagesMax) =>
      answerPdf(ctx, state, input, 'merged.pdf', async () => ({
        ...({ kind: 'merge', pagesMax } as const),
        sources: await readPdfs(ctx, input.sources),
      })),
    ),
});
