// Texts of a rule with what a series fills in: `{{ $labels.NAME }}`, `{{ $value }}` and a few forms of the value, as rule files of Prometheus write
// them. Other actions of Go's templates stay as they are written. What is filled in is data: nothing reads it again.

const ACTION = /\{\{-?\s*([^{}]{1,200}?)\s*-?\}\}/g;
const LABEL = /^(?:\$labels|\.Labels)\.([A-Za-z_][A-Za-z0-9_]*)$/;
const VALUE = /^(?:\$value|\.Value)(?:\s*\|\s*(\w+)(?:\s+"([^"]{1,20})")?)?$/;
const PRINTED = /^(?:printf\s+"([^"]{1,20})"\s+)(?:\$value|\.Value)$/;
const FORMAT = /^([^%]*)%0?(?:\.(\d))?([fgd])((?:%%|[^%])*)$/;

interface Filling {
  readonly labels: Readonly<Record<string, string>>;
  /** Null: there is none. */
  readonly value: number | null;
}

type Action = (filling: Filling) => string;

export function fillIn(text: string, filling: Filling): string {
  return text.replaceAll(ACTION, (written, inner: string) => actionOf(inner)?.(filling) ?? written);
}

/** Actions that stay as they are written. */
export function unknownActions(text: string): string[] {
  const unknown = [...text.matchAll(ACTION)].filter(([, inner]) => actionOf(inner as string) === null);
  return unknown.map(([written]) => written);
}

export function valueText(value: number | null): string {
  return value === null ? 'no value' : String(Number(value.toPrecision(6)));
}

function actionOf(inner: string): Action | null {
  const label = LABEL.exec(inner)?.[1];
  if (label !== undefined) return ({ labels }) => (Object.hasOwn(labels, label) ? (labels[label] as string) : '');
  const [, printed] = PRINTED.exec(inner) ?? [];
  if (printed !== undefined) return printing(printed);
  const [matched, name, argument] = VALUE.exec(inner) ?? [];
  if (matched === undefined) return null;
  if (name === undefined) return ({ value }) => valueText(value);
  if (name === 'printf') return argument === undefined ? null : printing(argument);
  const format = formats[name];
  return format === undefined || argument !== undefined ? null : withValue(format);
}

function withValue(format: (value: number) => string): Action {
  return ({ value }) => (value === null ? valueText(value) : format(value));
}

/** One verb of printf: `%.2f%%`. */
function printing(format: string): Action | null {
  const [matched, before = '', digits, verb, after = ''] = FORMAT.exec(format) ?? [];
  if (matched === undefined) return null;
  const rest = after.replaceAll('%%', '%');
  return withValue((value) => {
    if (verb === 'g') return `${before}${valueText(value)}${rest}`;
    return `${before}${value.toFixed(verb === 'd' ? 0 : Number(digits ?? 6))}${rest}`;
  });
}

const formats: Readonly<Record<string, (value: number) => string>> = {
  humanize: (value) => withPrefix(value, 1_000, ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y']),
  humanize1024: (value) => withPrefix(value, 1_024, ['', 'ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'Zi', 'Yi']),
  humanizePercentage: (value) => `${significant(value * 100)}%`,
  humanizeDuration: durationText,
};

function withPrefix(value: number, base: number, prefixes: readonly string[]): string {
  let [rest, at] = [value, 0];
  while (Math.abs(rest) >= base && at < prefixes.length - 1) {
    rest /= base;
    at += 1;
  }
  return `${significant(rest)}${prefixes[at]}`;
}

/** As Go's %.4g, but for exponents. */
function significant(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function durationText(value: number): string {
  if (Math.abs(value) < 60) return `${significant(value)}s`;
  const seconds = Math.floor(Math.abs(value));
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const words = parts.slice(first).map(([count, unit]) => `${count}${unit}`);
  return `${value < 0 ? '-' : ''}${words.join(' ')}`;
}
