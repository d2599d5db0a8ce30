// Prometheus names and labels of OTLP metrics (opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics, and the package
// otlptranslator): units and kinds become suffixes, invalid characters become underscores.
import type { OtlpAttributes, OtlpValue } from '../../../lib/otlp/values.ts';
import type { OtlpMetric } from './metric.ts';

const units: Readonly<Record<string, string>> = {
  d: 'days',
  h: 'hours',
  min: 'minutes',
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
  By: 'bytes',
  KiBy: 'kibibytes',
  MiBy: 'mebibytes',
  GiBy: 'gibibytes',
  TiBy: 'tibibytes',
  KBy: 'kilobytes',
  MBy: 'megabytes',
  GBy: 'gigabytes',
  TBy: 'terabytes',
  m: 'meters',
  V: 'volts',
  A: 'amperes',
  J: 'joules',
  W: 'watts',
  g: 'grams',
  Cel: 'celsius',
  Hz: 'hertz',
  '1': '',
  '%': 'percent',
};
const perUnits: Readonly<Record<string, string>> = {
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  mo: 'month',
  y: 'year',
};

/** The name of a metric without the suffixes of single series; empty when nothing of it can be kept. */
export function metricName({ name, unit, kind, isMonotonic }: OtlpMetric): string {
  let tokens = tokensOf(name);
  const [main = '', per = ''] = unit.split(/\/(.*)/s);
  const mainUnit = unitName(main, units);
  if (mainUnit !== '' && !tokens.includes(mainUnit)) tokens.push(mainUnit);
  const perUnit = unitName(per, perUnits);
  if (perUnit !== '' && !tokens.includes(perUnit)) tokens.push('per', perUnit);
  if (kind === 'sum' && isMonotonic) tokens = [...tokens.filter((token) => token !== 'total'), 'total'];
  if (kind === 'gauge' && unit === '1') tokens = [...tokens.filter((token) => token !== 'ratio'), 'ratio'];
  const joined = tokens.join('_');
  return /^\d/.test(joined) ? `_${joined}` : joined;
}

function tokensOf(name: string): string[] {
  return name.split(/[^a-zA-Z0-9:]+/).filter((token) => token !== '');
}

function unitName(unit: string, names: Readonly<Record<string, string>>): string {
  const trimmed = unit.trim();
  if (trimmed === '' || /[{}]/.test(trimmed)) return '';
  const known = Object.hasOwn(names, trimmed) ? names[trimmed] : undefined;
  return known ?? tokensOf(trimmed).join('_');
}

/** A label for the name of an attribute. */
export function labelName(name: string): string {
  const label = name.replace(/[^a-zA-Z0-9_]/g, '_');
  if (/^\d/.test(label)) return `key_${label}`;
  return /^_[^_]/.test(label) ? `key${label}` : label;
}

/** Attributes as labels. Where two become one, their values stand behind each other, in the order of the attributes' names. */
export function labelsFrom(attributes: Iterable<readonly [string, OtlpValue]>): Map<string, string> {
  const labels = new Map<string, string>();
  for (const [name, value] of [...attributes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (name === '') continue;
    const label = labelName(name);
    const known = labels.get(label);
    labels.set(label, known === undefined ? textOf(value) : `${known};${textOf(value)}`);
  }
  return labels;
}

function textOf(value: OtlpValue): string {
  return typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
}

const IDENTITY = ['service.name', 'service.namespace', 'service.instance.id'];

/** job and instance of a resource, and the labels of its target_info. */
export function targetOf(resource: OtlpAttributes) {
  const text = (name: string) => textOf(resource.get(name) ?? null);
  const [name, namespace, instance] = IDENTITY.map(text) as [string, string, string];
  const identity = new Map<string, string>();
  if (name !== '') identity.set('job', namespace === '' ? name : `${namespace}/${name}`);
  if (instance !== '') identity.set('instance', instance);
  const info = labelsFrom([...resource].filter(([attribute]) => !IDENTITY.includes(attribute)));
  return { identity, info };
}
