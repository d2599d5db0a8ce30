// Paper sizes in Gotenberg's form fields: inches, or numbers with a unit.
import { type PageFormat, pointsOf } from '../page.ts';
import { type GotenbergForm, invalid } from './form.ts';

const USUAL = { paperWidth: '8.5', paperHeight: '11', margin: '0.39' };
const INCHES_MAX = 200;

export const PAPER_FIELDS = [
  'paperWidth',
  'paperHeight',
  'marginTop',
  'marginRight',
  'marginBottom',
  'marginLeft',
  'landscape',
];

/** Throws INVALID_REQUEST for a length that is none. */
export function paperOf({ fields }: GotenbergForm): PageFormat {
  const length = (name: string, usual: string) => {
    const points = pointsOf(fields[name] ?? usual);
    if (points === null || points > INCHES_MAX * 72)
      throw invalid(`Invalid form data: form field '${name}' is no length: ${(fields[name] ?? '').slice(0, 40)}`);
    return points;
  };
  const [wide, high] = [length('paperWidth', USUAL.paperWidth), length('paperHeight', USUAL.paperHeight)];
  const isTurned = fields.landscape === 'true';
  const margin = (name: string) => length(name, USUAL.margin);
  return {
    width: isTurned ? high : wide,
    height: isTurned ? wide : high,
    margins: {
      top: margin('marginTop'),
      right: margin('marginRight'),
      bottom: margin('marginBottom'),
      left: margin('marginLeft'),
    },
  };
}
