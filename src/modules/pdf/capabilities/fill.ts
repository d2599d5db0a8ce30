import Type, { type Static } from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { resultWishFields, sourceField } from '../../../kit/file-fields.ts';
import { READ_PRICE, STORE_PRICES } from '../../../objects/limits.ts';
import type { FieldValue } from '../engine/wire.ts';
import { FILE_BODY_BYTES_MAX } from '../limits.ts';
import { answerPdf } from '../operations/answer.ts';
import { chargePages } from '../operations/paid.ts';
import { readPdf, withBytes } from '../operations/sources.ts';
import { madeSchema } from '../schemas.ts';
import type { PdfState } from '../state.ts';
import { FORM } from './examples.ts';

const FIELDS_MAX = 1_000;

const fillSchema = Type.Object({
  source: sourceField('A PDF with a form.'),
  fields: Type.Unsafe<Record<string, FieldValue>>({
    type: 'object',
    minProperties: 1,
    maxProperties: FIELDS_MAX,
    additionalProperties: {
      anyOf: [
        { type: 'string', maxLength: 10_000 },
        { type: 'boolean' },
        { type: 'number' },
        { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 1_000 } },
      ],
    },
    description:
      'Values by the names of fields, as POST /v1/pdf/info shows them: text, true or false for check boxes, an option or several for choices.',
  }),
  flatten: Type.Optional(
    Type.Boolean({
      description: 'Make the values part of the pages, so that nobody changes them; false when not sent.',
    }),
  ),
  ...resultWishFields,
});

export const fill = defineCapability<PdfState>()({
  method: 'POST',
  path: '/v1/pdf/fill',
  summary: 'Fills the form of a PDF.',
  description:
    'Sets the fields that you name and leaves the others. A name that the form has not, or a value that the field does not take, is refused, ' +
    'and the message names what there is. Forms of XFA and signatures are not filled.',
  keywords: ['fill pdf form', 'acroform', 'flatten form', 'pdf template'],
  input: fillSchema,
  output: madeSchema,
  price: 'pdf.fill',
  laterPrices: [READ_PRICE, ...STORE_PRICES],
  bodyBytesMax: FILE_BODY_BYTES_MAX,
  bulk: { source: import.meta.url, reduce: (value: Static<typeof fillSchema>) => withBytes(value) },
  errors: ['BUCKET_NOT_FOUND', 'OBJECT_NOT_FOUND', 'CONCURRENCY_LIMITED', 'OVERLOADED'],
  events: ['wallet.low_balance'],
  limits: { source: '20 MiB, 500 pages.', fields: `${FIELDS_MAX}.`, time: '30 s.' },
  examples: [
    {
      title: 'A text and a check box',
      input: { source: { content_base64: FORM }, fields: { name: 'Ada Lovelace', member: true }, inline: true },
      expect: { pages: 1 },
    },
  ],
  run: ({ ctx, input, state }) =>
    chargePages(ctx, (pagesMax) =>
      answerPdf(ctx, state, input, 'filled.pdf', async () => ({
        ...({ kind: 'fill', fields: input.fields, flatten: input.flatten ?? false, pagesMax } as const),
        fontsFolder: state.settings.fontsFolder,
        source: await readPdf(ctx, input.source),
      })),
    ),
});
