// Schemas of the PDF operations.
import Type from 'typebox';
import { orNull } from '../../kit/fields.ts';
import { resultFields } from '../../kit/file-fields.ts';
import { LINE_CHARACTERS_MAX, PAGES_MAX } from './limits.ts';
import { MARGIN_MM, pageSizes } from './page.ts';
import { RANGES_MAX, RANGES_PATTERN } from './ranges.ts';

const margin = (side: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: 200, description: `${side}, millimetres.` }));

export const pageField = Type.Object(
  {
    size: Type.Optional(Type.Enum([...pageSizes], { description: '`A4` when not sent.' })),
    landscape: Type.Optional(Type.Boolean({ description: 'Wider than high; false when not sent.' })),
    margins: Type.Optional(
      Type.Object(
        { top: margin('Top'), right: margin('Right'), bottom: margin('Bottom'), left: margin('Left') },
        { description: `Millimetres, 0 to 200; ${MARGIN_MM} for a side that is not sent.` },
      ),
    ),
  },
  { description: 'The paper.' },
);

export const marginTextField = (where: string) =>
  Type.Optional(
    orNull<string>(
      { type: 'string', minLength: 1, maxLength: LINE_CHARACTERS_MAX },
      `Plain text ${where} each page; {page} and {pages} become its number and how many there are.`,
    ),
  );

export const rangesField = (description: string) =>
  Type.String({ minLength: 1, maxLength: 2_000, pattern: RANGES_PATTERN, description });

export const RANGES_WORDS = `Pages from 1: \`1-3,5,8-\`; at most ${RANGES_MAX} ranges.`;

export const pagesField = Type.Integer({ minimum: 1, maximum: PAGES_MAX, description: 'Pages of the PDF.' });

/** A PDF that was made. */
export const madeSchema = Type.Object({ pages: pagesField, ...resultFields });
