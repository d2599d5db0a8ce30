// The explorer's fields: metric, labels, function and grouping, as the address has them, and the PromQL that they make.

export const functions = {
  '': { label: 'Value as it is', hasWindow: false },
  rate: { label: 'Rate a second', hasWindow: true },
  increase: { label: 'Increase', hasWindow: true },
  avg_over_time: { label: 'Mean over time', hasWindow: true },
  max_over_time: { label: 'Maximum over time', hasWindow: true },
  min_over_time: { label: 'Minimum over time', hasWindow: true },
  p50: { label: 'Median of the histogram', hasWindow: true },
  p95: { label: '95th percentile of the histogram', hasWindow: true },
  p99: { label: '99th percentile of the histogram', hasWindow: true },
} as const;
type FunctionName = keyof typeof functions;

export const aggregations = ['', 'sum', 'avg', 'max', 'min', 'count'] as const;
export const windows = ['1m', '5m', '15m', '1h'] as const;
const WINDOW_USUAL = '5m';
const LABEL_FIELD = 'l.';
const BUCKET_LABEL = 'le';

export interface Fields {
  readonly metric: string;
  readonly fn: FunctionName;
  readonly window: string;
  readonly agg: string;
  readonly by: readonly string[];
  /** Label and value. */
  readonly labels: readonly (readonly [string, string])[];
}

export const labelField = (label: string) => `${LABEL_FIELD}${label}`;

/** What the address asks for; a field that it does not know counts as not sent. */
export function fieldsOf(query: URLSearchParams): Fields {
  const fn = query.get('fn') ?? '';
  const [window, agg] = [query.get('window') ?? '', query.get('agg') ?? ''];
  return {
    metric: (query.get('metric') ?? '').trim(),
    fn: Object.hasOwn(functions, fn) ? (fn as FunctionName) : '',
    window: (windows as readonly string[]).includes(window) ? window : WINDOW_USUAL,
    agg: (aggregations as readonly string[]).includes(agg) ? agg : '',
    by: query.getAll('by').filter((label) => label !== ''),
    labels: [...query].flatMap(([name, value]) =>
      name.startsWith(LABEL_FIELD) && value !== '' ? [[name.slice(LABEL_FIELD.length), value] as const] : [],
    ),
  };
}

/** The same as pairs of an address, for links and hidden fields. */
export function pairsOf({ metric, fn, window, agg, by, labels }: Fields): [string, string][] {
  const pairs: [string, string][] = [
    ['metric', metric],
    ['fn', fn],
    ['window', functions[fn].hasWindow ? window : ''],
    ['agg', agg],
    ...by.map((label): [string, string] => ['by', label]),
    ...labels.map(([label, value]): [string, string] => [labelField(label), value]),
  ];
  return pairs.filter(([, value]) => value !== '');
}

/** Empty while no metric is chosen. */
export function promqlOf({ metric, fn, window, agg, by, labels }: Fields): string {
  if (metric === '') return '';
  const matchers = labels.map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  const selector = `${metric}${matchers.length === 0 ? '' : `{${matchers.join(',')}}`}`;
  const percent = /^p(\d+)$/.exec(fn)?.[1];
  if (percent !== undefined) {
    const groups = [BUCKET_LABEL, ...by.filter((label) => label !== BUCKET_LABEL)];
    return `histogram_quantile(0.${percent}, sum by (${groups.join(', ')}) (rate(${selector}[${window}])))`;
  }
  const value = fn === '' ? selector : `${fn}(${selector}[${window}])`;
  if (agg === '') return value;
  return by.length === 0 ? `${agg}(${value})` : `${agg} by (${by.join(', ')}) (${value})`;
}
