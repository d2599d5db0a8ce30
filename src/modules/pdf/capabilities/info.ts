import Type, { type Static } from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { instantOrNull, orNull, textOrNull } from '../../../kit/fields.ts';
import { sourceField } from '../../../kit/file-fields.ts';
import { FILE_BODY_BYTES_MAX, PAGES_MAX } from '../limits.ts';
import { readPdf, withBytes } from '../operations/sources.ts';
import type { PdfState } from '../state.ts';
import { FORM } from './examples.ts';

const infoSchema = Type.Object({ source: sourceField('The PDF.') });

const fieldSchema = Type.Object({
  name: Type.String({ description: 'For fields of POST /v1/pdf/fill.' }),
  type: Type.Enum(['text', 'checkbox', 'choice', 'radio', 'button', 'signature'], { description: 'What it takes.' }),
  value: Type.Unsafe<string | boolean | string[] | null>({
    type: ['string', 'boolean', 'array', 'null'],
    items: { type: 'string' },
    description: 'As it is filled now.',
  }),
  options: orNull<string[]>({ type: 'array', items: { type: 'string' } }, 'Of choices and radio buttons.'),
});

export const info = defineCapability<PdfState>()({
  method: 'POST',
  path: '/v1/pdf/info',
  summary: 'Reads what a PDF is.',
  description: 'Pages and their sizes, title and dates, whether it is encrypted, and the fields of its form.',
  keywords: ['pdf metadata', 'how long is a pdf', 'page size', 'form field names'],
  input: infoSchema,
  output: Type.Object({
    pages: Type.Integer({ minimum: 0, description: 'How many.' }),
    page_sizes: Type.Array(
      Type.Object({
        width: Type.Number({ description: 'Points, 72 to an inch.' }),
        height: Type.Number({ description: 'Points.' }),
      }),
      { description: 'Of the first 500 pages.' },
    ),
    encrypted: Type.Boolean({ description: 'What is, no other operation reads.' }),
    title: textOrNull('As the document says.'),
    author: textOrNull('As the document says.'),
    subject: textOrNull('As the document says.'),
    creator: textOrNull('The program it was written with.'),
    producer: textOrNull('The program that made the PDF.'),
    created_at: instantOrNull('As the document says.'),
    modified_at: instantOrNull('As the document says.'),
    fields: Type.Array(fieldSchema, { description: 'Of its form, the first 500.' }),
    bytes: Type.Integer({ minimum: 0, description: 'Of the PDF.' }),
  }),
  isLongRead: true,
  bodyBytesMax: FILE_BODY_BYTES_MAX,
  bulk: { source: import.meta.url, reduce: (value: Static<typeof infoSchema>) => withBytes(value) },
  errors: ['BUCKET_NOT_FOUND', 'OBJECT_NOT_FOUND', 'CONCURRENCY_LIMITED', 'OVERLOADED'],
  limits: { source: '20 MiB.', time: '30 s.' },
  examples: [{ title: 'A form', input: { source: { content_base64: FORM } }, expect: { pages: 1, encrypted: false } }],
  async run({ ctx, input, state: { engines } }) {
    const source = await readPdf(ctx, input.source, { isFree: true });
    const bytes = source.length;
    const told = await engines.run(ctx, { kind: 'info', source, pagesMax: PAGES_MAX }, 'info');
    return { data: { ...told.info, bytes } };
  },
});
