// Translates Loki entries to records. A line is plain text, JSON as pino and others write it, or text followed by JSON as winston-loki writes
// it.
import type { OtlpValue } from '../../../lib/otlp/values.ts';
import { UNKNOWN_SERVICE } from '../limits.ts';
import { INFO, levelOfNumber, levelOfWord } from '../records/levels.ts';
import { SPAN_HEX, TRACE_HEX } from '../records/stored-log.ts';
import type { Intake } from './intake.ts';

export type Labels = ReadonlyMap<string, string>;

const SERVICES = ['service_name', 'service', 'app'];
const LEVELS = ['level', 'detected_level', 'severity'];
const MESSAGES = ['msg', 'message'];
const TRACES = ['trace_id', 'traceId'];
const SPANS = ['span_id', 'spanId'];
/** They say when, which the entry says too. */
const TIMES = ['time', 'timestamp'];

/** What all entries of a stream share. */
export interface Stream {
  readonly service: string;
  readonly level: number | null;
  readonly resource: number;
}

export function streamOf(intake: Intake, labels: Labels): Stream {
  const serviceLabel = SERVICES.find((name) => (labels.get(name) ?? '') !== '');
  const levelLabel = LEVELS.find((name) => levelOfWord(labels.get(name) ?? '') !== null);
  const others = [...labels].filter(([name]) => name !== serviceLabel && name !== levelLabel);
  return {
    service: serviceLabel === undefined ? UNKNOWN_SERVICE : (labels.get(serviceLabel) as string),
    level: levelLabel === undefined ? null : levelOfWord(labels.get(levelLabel) as string),
    resource: intake.resource(others),
  };
}

/** An entry. `metadata`: its structured metadata, names with values. */
export function takeEntry(
  intake: Intake,
  { service, level, resource }: Stream,
  timeMs: number,
  line: string,
  metadata: Iterable<readonly [string, string]>,
): void {
  const { text, members } = readLine(line);
  const left = new Map<string, unknown>(Object.entries(members));
  // winston-loki sends the same members as text once more.
  for (const [name, value] of metadata) if (!left.has(name)) left.set(name, value);
  const message = text ?? take(left, MESSAGES, (value) => (typeof value === 'string' ? value : null)) ?? line;
  const own = take(left, ['level', ...LEVELS], levelOfValue);
  const ids = { traceId: takeId(left, TRACES, TRACE_HEX), spanId: takeId(left, SPANS, SPAN_HEX) };
  take(left, TIMES, (value) => (typeof value === 'number' || typeof value === 'string' ? value : null));
  for (const [name, value] of left) intake.attribute(name, value as OtlpValue);
  intake.add(timeMs, own ?? level ?? INFO, service, message, ids, resource);
}

/** `text`: null when the whole line is JSON. */
function readLine(line: string): { readonly text: string | null; readonly members: object } {
  const end = line.trimEnd();
  if (!end.endsWith('}')) return { text: end, members: {} };
  const at = end.startsWith('{') ? 0 : end.indexOf(' {');
  const members = at === -1 ? null : objectOf(end.slice(at));
  if (members === null) return { text: end, members: {} };
  return { text: at === 0 ? null : end.slice(0, at), members };
}

function objectOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** The first of the names with a value that `read` takes, which is then gone. */
function take<Value>(members: Map<string, unknown>, names: readonly string[], read: (value: unknown) => Value | null) {
  for (const name of names) {
    const value = members.has(name) ? read(members.get(name)) : null;
    if (value === null) continue;
    members.delete(name);
    return value;
  }
  return null;
}

function takeId(members: Map<string, unknown>, names: readonly string[], digits: number): string | null {
  return take(members, names, (value) => {
    const text = typeof value === 'string' ? value.toLowerCase() : '';
    return text.length === digits && /^[0-9a-f]*$/.test(text) ? text : null;
  });
}

function levelOfValue(value: unknown): number | null {
  if (typeof value === 'number') return levelOfNumber(value);
  return typeof value === 'string' ? levelOfWord(value) : null;
}
