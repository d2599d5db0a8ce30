// A batch of records for blocks, by column, each distinct text once. Incoming texts are cleaned of secrets, cut to their limits and weighed
// here, once for each distinct text.

import { cleanJson, cleanText } from '../../../lib/clean-text.ts';
import type { OtlpValue } from '../../../lib/otlp/values.ts';
import { scrubMember, scrubMessage, standsAlone } from '../../../lib/scrub/members.ts';
import { scrubEvent } from '../../../lib/scrub/scrub.ts';
import { ATTRIBUTES_MAX, NAME_CHARACTERS_MAX, RECORD_BYTES_MAX, SERVICE_CHARACTERS_MAX } from '../limits.ts';
import { Interned, Listed, NONE } from './interned.ts';
import { jsonBytes } from './json-bytes.ts';
import { levels } from './levels.ts';

/** Values as texts that tell their types: a string behind a quote, anything else as JSON, which no other begins with. */
export function typedText(value: unknown): string {
  return typeof value === 'string' ? `"${value}` : JSON.stringify(value);
}

/** What a value is searched and filtered by: a string itself, anything else its JSON. */
export function plainOf(typed: string): string {
  return typed.charCodeAt(0) === 34 ? typed.slice(1) : typed;
}

interface Name {
  readonly text: string;
  readonly id: number;
  readonly bytes: number;
  readonly isAlone: boolean;
  /** Numbers of values that were cleaned, by what was sent. */
  readonly values: Map<unknown, number>;
}

/** With all its members, empty, and null for both IDs. */
const EMPTY_BYTES = Buffer.byteLength(
  JSON.stringify({
    timestamp: new Date(0).toISOString(),
    level: '',
    service: '',
    message: '',
    attributes: {},
    trace_id: null,
    span_id: null,
  }),
);
/** An ID takes the place of `null`. */
const TRACE_BYTES = 34 - 4;
const SPAN_BYTES = 18 - 4;

export class LogBatch {
  // A value a record.
  readonly times: number[] = [];
  readonly levels: number[] = [];
  readonly services: number[] = [];
  readonly messages: number[] = [];
  readonly traces: number[] = [];
  readonly spans: number[] = [];
  readonly resources: number[] = [];
  readonly cuts: boolean[] = [];
  /** Where the attributes of a record end in `names` and `values`. */
  readonly ends: number[] = [];
  // A value an attribute.
  readonly names: number[] = [];
  readonly values: number[] = [];

  readonly serviceTexts = new Interned();
  readonly messageTexts = new Interned();
  readonly nameTexts = new Interned();
  readonly valueTexts = new Interned();
  readonly traceTexts = new Listed();
  readonly spanTexts = new Listed();
  /** JSON of objects. */
  readonly resourceTexts = new Interned();

  /** Of the records' JSON. */
  bytes = 0;

  readonly #sentServices = new Map<string, number>();
  readonly #sentMessages = new Map<string, number>();
  readonly #sentNames = new Map<string, Name>();
  readonly #messageBytes: number[] = [];
  readonly #valueBytes: number[] = [];
  // Attributes of the record that is being taken.
  #taken: Name[] = [];
  #takenValues: unknown[] = [];
  #takenCount = 0;
  #isPlain = true;
  #isCut = false;
  /** In which record a name was last taken, and where. */
  readonly #lastTaken: number[] = [];
  readonly #lastPlace: number[] = [];

  get size(): number {
    return this.times.length;
  }

  /** What all records of a sender share, once; `NONE` when it is nothing. */
  resource(members: Iterable<readonly [string, OtlpValue]>): number {
    const sent = Object.fromEntries(members);
    if (Object.keys(sent).length === 0) return NONE;
    const json = JSON.stringify(scrubEvent(cleanJson(sent)));
    const known = this.resourceTexts.texts.length;
    const id = this.resourceTexts.id(json.length > RECORD_BYTES_MAX / 4 ? '{"is_cut":true}' : json);
    if (id === known) this.bytes += Buffer.byteLength(json);
    return id;
  }

  /** An attribute of the record that `add` completes. Of a name that comes twice the last value counts. */
  attribute(sentName: string, value: OtlpValue): void {
    const name = this.#sentNames.get(sentName) ?? this.#learnName(sentName);
    const record = this.times.length;
    if (this.#lastTaken[name.id] === record) {
      this.#takenValues[this.#lastPlace[name.id] as number] = value;
      return;
    }
    if (this.#takenCount === ATTRIBUTES_MAX) {
      this.#isCut = true;
      return;
    }
    this.#lastTaken[name.id] = record;
    this.#lastPlace[name.id] = this.#takenCount;
    this.#taken[this.#takenCount] = name;
    this.#takenValues[this.#takenCount] = value;
    this.#takenCount += 1;
    if (!name.isAlone) this.#isPlain = false;
  }

  /** A record with the attributes that were taken. `level`: its place in `levels`; IDs in lower-case hex. */
  add(
    timeMs: number,
    level: number,
    sent: { readonly service: string; readonly message: string },
    ids: { readonly traceId: string | null; readonly spanId: string | null },
    resource = NONE,
  ): void {
    const message = this.#message(sent.message);
    const start = this.names.length;
    const bytes =
      EMPTY_BYTES +
      (levels[level] as string).length +
      this.#service(sent.service) +
      (this.#messageBytes[message] as number) -
      2 +
      (ids.traceId === null ? 0 : TRACE_BYTES) +
      (ids.spanId === null ? 0 : SPAN_BYTES) +
      (this.#isPlain ? this.#addPlain() : this.#addTogether());
    this.messages.push(message);
    this.bytes += bytes > RECORD_BYTES_MAX ? this.#cutRecord(bytes, start) : bytes;
    this.times.push(timeMs);
    this.levels.push(level);
    this.traces.push(this.traceTexts.id(ids.traceId));
    this.spans.push(this.spanTexts.id(ids.spanId));
    this.resources.push(resource);
    this.cuts.push(this.#isCut);
    this.ends.push(this.names.length);
    this.#takenCount = 0;
    this.#isPlain = true;
    this.#isCut = false;
  }

  /** Forgets the attributes of a record that is not kept. */
  drop(): void {
    for (let i = 0; i < this.#takenCount; i += 1) this.#lastTaken[(this.#taken[i] as Name).id] = NONE;
    this.#takenCount = 0;
    this.#isPlain = true;
    this.#isCut = false;
  }

  /** Answers the bytes of its JSON without quotes. */
  #service(sent: string): number {
    let id = this.#sentServices.get(sent);
    if (id === undefined) {
      const clean = scrubMessage(cleanText(sent.slice(0, SERVICE_CHARACTERS_MAX)));
      id = this.serviceTexts.id(clean);
      this.#sentServices.set(sent, id);
    }
    this.services.push(id);
    return jsonBytes(this.serviceTexts.texts[id] as string) - 2;
  }

  #message(sent: string): number {
    const known = this.#sentMessages.get(sent);
    if (known !== undefined) return known;
    const id = this.#internMessage(scrubMessage(cleanText(sent)));
    this.#sentMessages.set(sent, id);
    return id;
  }

  #internMessage(clean: string): number {
    const id = this.messageTexts.id(clean);
    this.#messageBytes[id] ??= jsonBytes(clean);
    return id;
  }

  #learnName(sent: string): Name {
    const text = cleanText(sent.slice(0, NAME_CHARACTERS_MAX));
    const id = this.nameTexts.id(text);
    const name: Name = { text, id, bytes: jsonBytes(text) + 1, isAlone: standsAlone(text), values: new Map() };
    this.#sentNames.set(sent, name);
    return name;
  }

  /** Attributes that say nothing of each other. Answers their bytes. */
  #addPlain(): number {
    let bytes = Math.max(0, this.#takenCount - 1);
    for (let i = 0; i < this.#takenCount; i += 1) {
      const name = this.#taken[i] as Name;
      const sent = this.#takenValues[i];
      let value = name.values.get(sent);
      if (value === undefined) {
        value = this.#intern(scrubMember(name.text, cleanJson(sent)));
        // An object never comes again.
        if (typeof sent !== 'object') name.values.set(sent, value);
      }
      this.names.push(name.id);
      this.values.push(value);
      bytes += name.bytes + (this.#valueBytes[value] as number);
    }
    return bytes;
  }

  /** Attributes that are read together. */
  #addTogether(): number {
    const sent: [string, unknown][] = [];
    for (let i = 0; i < this.#takenCount; i += 1)
      sent.push([(this.#taken[i] as Name).text, cleanJson(this.#takenValues[i])]);
    let bytes = -1;
    for (const [text, value] of Object.entries(scrubEvent(Object.fromEntries(sent)) as object)) {
      const id = this.#intern(value);
      this.names.push(this.nameTexts.id(text));
      this.values.push(id);
      bytes += jsonBytes(text) + 2 + (this.#valueBytes[id] as number);
    }
    return Math.max(0, bytes);
  }

  #intern(value: unknown): number {
    const typed = typedText(value);
    const id = this.valueTexts.id(typed);
    this.#valueBytes[id] ??= typeof value === 'string' ? jsonBytes(value) : Buffer.byteLength(typed);
    return id;
  }

  /** Cuts the record that is being added: its message first, then what does not fit of its attributes. Answers its bytes. */
  #cutRecord(bytes: number, start: number): number {
    this.#isCut = true;
    const message = this.messages.at(-1) as number;
    const names = this.names.splice(start);
    const values = this.values.splice(start);
    // With a comma each, of which the first has none.
    const pairBytes = (i: number) =>
      jsonBytes(this.nameTexts.texts[names[i] as number] as string) +
      2 +
      (this.#valueBytes[values[i] as number] as number);
    const all = names.reduce((sum, _, i) => sum + pairBytes(i), 0);
    let used = bytes - (this.#messageBytes[message] as number) - Math.max(0, all - 1);
    const kept = this.#internMessage(fitting(this.messageTexts.texts[message] as string, RECORD_BYTES_MAX - used));
    this.messages[this.messages.length - 1] = kept;
    used += this.#messageBytes[kept] as number;
    for (const [i, name] of names.entries()) {
      const more = pairBytes(i) - (this.names.length === start ? 1 : 0);
      if (used + more > RECORD_BYTES_MAX) continue;
      this.names.push(name);
      this.values.push(values[i] as number);
      used += more;
    }
    return used;
  }
}

/** The beginning of a text whose JSON has at most so many bytes. */
function fitting(text: string, bytesMax: number): string {
  let fit = text;
  for (let bytes = jsonBytes(fit); bytes > bytesMax; bytes = jsonBytes(fit)) {
    fit = fit.slice(0, Math.floor((fit.length * bytesMax) / bytes) - 1).toWellFormed();
  }
  return fit;
}
