// Labels of a series, and signatures that tell series apart. No text holds a lone surrogate, so a lone surrogate separates texts in a signature.

/** By name, in the order of names. */
export type Labels = ReadonlyMap<string, string>;

export const NAME = '__name__';
const BETWEEN = '\udc00';
const BEYOND = /[\ud800-\uffff]/;

export function labelsOf(pairs: Iterable<readonly [string, string]>): Labels {
  return new Map([...pairs].filter(([, value]) => value !== '').sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The same for the same labels, and for no others. */
export function signature(labels: Labels): string {
  let text = '';
  for (const [name, value] of labels) text += name + BETWEEN + value + BETWEEN;
  return text;
}

export function without(labels: Labels, names: readonly string[]): Labels {
  return new Map([...labels].filter(([name]) => !names.includes(name)));
}

export function only(labels: Labels, names: readonly string[]): Labels {
  return new Map([...labels].filter(([name]) => names.includes(name)));
}

export function withoutName(labels: Labels): Labels {
  return labels.has(NAME) ? without(labels, [NAME]) : labels;
}

/** An empty value takes the label away. */
export function withLabel(labels: Labels, name: string, value: string): Labels {
  return labelsOf([...without(labels, [name]), [name, value]]);
}

/** As they are written in a query. */
export function labelsText(labels: Labels): string {
  const others = [...withoutName(labels)].map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(', ');
  return `${labels.get(NAME) ?? ''}{${others}}`;
}

/** The same series in the order in which Prometheus selects them: by names and values in turn, the one with fewer labels first. */
export function sortedByLabels<Labelled extends { readonly labels: Labels }>(series: readonly Labelled[]): Labelled[] {
  return series
    .map((each) => ({ each, texts: [...each.labels].flat() }))
    .sort((a, b) => compareTexts(a.texts, b.texts))
    .map(({ each }) => each);
}

function compareTexts(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((text, i) => text !== b[i]);
  if (at === -1 || at >= b.length) return a.length - b.length;
  const [one, two] = [a[at] as string, b[at] as string];
  // By the bytes of UTF-8. The units of JavaScript have the same order below the surrogates.
  if (BEYOND.test(one) && BEYOND.test(two)) return Buffer.compare(Buffer.from(one), Buffer.from(two));
  return one < two ? -1 : 1;
}
