import Type, { type Static } from 'typebox';
import { answerResult, type ResultWish, requireResultPlace } from '../../../files/result.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { resultFields, resultWishFields, sourceField } from '../../../kit/file-fields.ts';
import type { CallContext } from '../../../kit/services.ts';
import { READ_PRICE, STORE_PRICES } from '../../../objects/limits.ts';
import type { MadePdf } from '../engine/wire.ts';
import { FILE_BODY_BYTES_MAX } from '../limits.ts';
import { PDF } from '../operations/answer.ts';
import { chargePages } from '../operations/paid.ts';
import { readPdf, withBytes } from '../operations/sources.ts';
import { pagesField, RANGES_WORDS, rangesField } from '../schemas.ts';
import type { PdfState } from '../state.ts';
import { PAGE } from './examples.ts';

const splitSchema = Type.Object({
  source: sourceField('The PDF.'),
  ranges: rangesField(`${RANGES_WORDS} Each becomes a PDF of its own.`),
  ...resultWishFields,
});

export const split = defineCapability<PdfState>()({
  method: 'POST',
  path: '/v1/pdf/split',
  summary: 'Takes parts out of a PDF.',
  description:
    'Each range becomes a PDF of its own, in the order of ranges; for one file with some pages send one range at a time, and merge. With store, ' +
    'the number of the range is put before the ending of key: `report-1.pdf`.',
  keywords: ['extract pages', 'cut pdf', 'separate pages', 'first page of pdf'],
  input: splitSchema,
  output: Type.Object({
    pages: Type.Integer({ minimum: 1, description: 'Pages of all parts.' }),
    files: Type.Array(
      Type.Object({
        range: Type.String({ description: 'As it was sent.' }),
        pages: pagesField,
        ...resultFields,
      }),
      { description: 'One for each range.' },
    ),
  }),
  price: 'pdf.split',
  laterPrices: [READ_PRICE, ...STORE_PRICES],
  bodyBytesMax: FILE_BODY_BYTES_MAX,
  bulk: { source: import.meta.url, reduce: (value: Static<typeof splitSchema>) => withBytes(value) },
  errors: ['BUCKET_NOT_FOUND', 'OBJECT_NOT_FOUND', 'CONCURRENCY_LIMITED', 'OVERLOADED'],
  events: ['wallet.low_balance'],
  limits: {
    source: '20 MiB.',
    pages: '500 in all.',
    inline: '1 MiB over all parts; those beyond come as links.',
    time: '30 s.',
  },
  examples: [
    {
      title: 'The first page',
      input: { source: { content_base64: PAGE }, ranges: '1' },
      expect: { pages: 1, files: [{ range: '1', pages: 1 }] },
    },
  ],
  run: ({ ctx, input, state: { engines } }) =>
    chargePages(ctx, async (pagesMax) => {
      await requireResultPlace(ctx, input);
      const { ranges } = input;
      const source = await readPdf(ctx, input.source);
      const { files } = await engines.run(ctx, { kind: 'split', source, ranges, cut: 'ranges', pagesMax }, 'made');
      return answerParts(ctx, files, ranges.split(','), input);
    }),
});

async function answerParts(ctx: CallContext, files: readonly MadePdf[], ranges: readonly string[], wish: ResultWish) {
  ctx.holdMade(files.reduce((sum, { bytes }) => sum + bytes.length, 0));
  const parts = [];
  let inlineLeft = 1024 * 1024;
  for (const [at, { bytes, pages }] of files.entries()) {
    const inline = wish.inline === true && bytes.length <= inlineLeft;
    if (inline) inlineLeft -= bytes.length;
    const store = wish.store && { ...wish.store, key: numberedKey(wish.store.key, at + 1) };
    const as = { contentType: PDF, filename: `part-${at + 1}.pdf` };
    const result = await answerResult(ctx, bytes, { ...as, inline, store });
    parts.push({ range: ranges[at]?.trim() ?? '', pages, ...result });
  }
  const pages = files.reduce((sum, part) => sum + part.pages, 0);
  return { pages, data: { pages, files: parts } };
}

function numberedKey(key: string, number: number): string {
  const dot = key.lastIndexOf('.');
  return dot > key.lastIndexOf('/') ? `${key.slice(0, dot)}-${number}${key.slice(dot)}` : `${key}-${number}`;
}
