// Lenient readers of event values. A value of another type counts as not sent: a crash report is not refused for it.

import { memberSources } from '../../../lib/json-source.ts';
import type { JsonObject } from './draft.ts';

/** Texts as they are, numbers and booleans written out; null for the rest and for empty texts. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

export function objectOf(value: unknown): JsonObject | null {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** A list, or the one under `values`, as older forms of the protocol have it. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const values = objectOf(value)?.values;
  return Array.isArray(values) ? values : [];
}

export function objectsOf(value: unknown): JsonObject[] {
  return listOf(value)
    .map(objectOf)
    .filter((each) => each !== null);
}

/** Whole and not negative. */
export function positionOf(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/** Seconds since the epoch or ISO 8601, which is UTC where it names no zone, as epoch milliseconds. */
export function instantOf(value: unknown): number | null {
  const ms =
    typeof value === 'number'
      ? value * 1000
      : typeof value === 'string' && value.length <= 40
        ? Date.parse(ISO_WITHOUT_ZONE.test(value) ? `${value}Z` : value)
        : Number.NaN;
  return Number.isNaN(ms) || Math.abs(ms) > MS_MAX ? null : Math.round(ms);
}

const ISO_WITHOUT_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/;
/** Year 9999: later ones have another form in ISO 8601. */
const MS_MAX = 253_402_300_799_999;

// Numbers that are taken as texts. A whole number beyond 2^53 has lost digits by the time JSON is parsed: ids of 64 bits, sent as
// numbers, are read from the source, or two users would be one.

type Spans = ReturnType<typeof memberSources>;

export class NumberSource {
  readonly #source: string;
  #root: Spans | null = null;
  readonly #objects = new Map<string, Spans>();

  /** `source`: the JSON of the event, which is valid. */
  constructor(source: string) {
    this.#source = source;
  }

  /** The scalar at `name` of the event, or of the object that stands under `of` there, as text. */
  text(value: string | number | boolean, name: string, of?: string): string {
    if (typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value)) return String(value);
    const span = this.#spans(of)?.get(name);
    return span === undefined ? String(value) : this.#source.slice(span.start, span.end);
  }

  #spans(of: string | undefined): Spans | undefined {
    this.#root ??= memberSources(this.#source);
    if (of === undefined) return this.#root;
    const start = this.#root.get(of)?.start;
    if (start === undefined) return undefined;
    const known = this.#objects.get(of) ?? memberSources(this.#source, start);
    this.#objects.set(of, known);
    return known;
  }
}
