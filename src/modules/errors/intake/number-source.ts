// Numbers that are taken as texts. A whole number beyond 2^53 has lost digits by the time JSON is parsed: ids of 64 bits, sent as
// numbers, are read from the source, or two users would be one.
import { memberSources } from '../../../lib/json-source.ts';

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
