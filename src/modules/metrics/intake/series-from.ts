// Validates the labels of a sample: gives the series that they name, or the reason why they name none.
import { LABEL_CHARACTERS_MAX, LABELS_MAX, NAME_CHARACTERS_MAX, VALUE_CHARACTERS_MAX } from '../limits.ts';
import { compareLabels, identify, type Labels, NAME_LABEL, type SeriesIdentity } from '../series/identity.ts';

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Why labels name no series; else what they name. Pairs come in any order and may hold empty values, which are no labels. */
export function seriesFrom(pairs: (readonly [string, string])[]): SeriesIdentity | string {
  const labels: (readonly [string, string])[] = [];
  let name = '';
  for (const pair of pairs) {
    const [label, value] = pair;
    if (label === NAME_LABEL) name = value;
    else if (value !== '') labels.push(pair);
  }
  const wrong = wrongName(name) ?? wrongLabels(labels);
  if (wrong !== null) return wrong;
  labels.sort(compareLabels);
  for (let i = 1; i < labels.length; i += 1) {
    if (labels[i]?.[0] === labels[i - 1]?.[0]) return `the label ${labels[i]?.[0]} comes twice`;
  }
  return identify(name, labels as Labels);
}

export function wrongName(name: string): string | null {
  if (name === '') return 'it has no name';
  if (name.length > NAME_CHARACTERS_MAX) return `its name is longer than ${NAME_CHARACTERS_MAX} characters`;
  return METRIC_NAME.test(name) ? null : `${JSON.stringify(name)} is not the name of a metric`;
}

function wrongLabels(labels: readonly (readonly [string, string])[]): string | null {
  if (labels.length > LABELS_MAX) return `it has more than ${LABELS_MAX} labels`;
  for (const [label, value] of labels) {
    if (label.length > LABEL_CHARACTERS_MAX) return `a label is longer than ${LABEL_CHARACTERS_MAX} characters`;
    if (!LABEL_NAME.test(label)) return `${JSON.stringify(label)} is not the name of a label`;
    if (value.length > VALUE_CHARACTERS_MAX)
      return `the value of the label ${label} is longer than ${VALUE_CHARACTERS_MAX} characters`;
    if (value.includes('\0')) return `the value of the label ${label} has a NUL character`;
  }
  return null;
}
