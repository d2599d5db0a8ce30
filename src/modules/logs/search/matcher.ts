// Matches the records of a block against a query. Values are tested in the block's dictionaries first, once for each distinct text.
import { isAscii } from 'node:buffer';
import type { Texts } from '../../../blocks/columns.ts';
import { holdsWords, type SearchedWords, storedWords } from '../../../lib/words/words.ts';
import { plainOf } from '../records/batch.ts';
import { NONE } from '../records/interned.ts';
import { type StoredLog, TRACE_HEX } from '../records/stored-log.ts';
import type { Question } from './question.ts';

/** As many words as there are bits; the rest are looked for in the records that have these. */
const WORD_BITS = 30;

type Test = (record: number) => boolean;

/** The records of a block that are an answer, from `first` until before `end`. */
export class Matcher {
  readonly first: number;
  readonly end: number;
  readonly #tests: readonly Test[];

  constructor(log: StoredLog, question: Question) {
    this.first = placeOf(log.times, question.fromMs);
    this.end = placeOf(log.times, question.toMs);
    const tests = this.first >= this.end ? [] : testsOf(log, question);
    this.#tests = tests ?? [];
    if (tests === null) this.end = this.first;
  }

  matches(record: number): boolean {
    for (const test of this.#tests) if (!test(record)) return false;
    return true;
  }
}

/** The first record of that time or later. */
function placeOf(times: Float64Array, timeMs: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The cheapest first. Null: no record of the block can be an answer. */
function testsOf(log: StoredLog, { level, service, traceId, attributes, words }: Question): Test[] | null {
  const tests: (Test | null)[] = [];
  if (level > 0) {
    const { levels } = log;
    tests.push((record) => (levels[record] as number) >= level);
  }
  if (service !== null) {
    const { ids } = log.services;
    const wanted = log.services.values.indexOf(service);
    tests.push(wanted === NONE ? null : (record) => ids[record] === wanted);
  }
  if (traceId !== null) {
    const wanted = placesOfId(log, traceId);
    tests.push(wanted.size === 0 ? null : (record) => wanted.has(log.idAt('trace', record)));
  }
  for (const [name, plain] of attributes) tests.push(attributeTest(log, name, plain));
  if (words !== null) tests.push(wordsTest(log, words));
  return tests.includes(null) ? null : (tests as Test[]);
}

/** The same ID may stand in several places. */
function placesOfId(log: StoredLog, traceId: string): Set<number> {
  const packed = log.traces;
  const wanted = Buffer.from(traceId, 'hex');
  const places = new Set<number>();
  for (let at = packed.indexOf(wanted); at !== NONE; at = packed.indexOf(wanted, at + 1)) {
    if (at % (TRACE_HEX / 2) === 0) places.add(at / (TRACE_HEX / 2));
  }
  return places;
}

/** The record's own attribute, or one that its sender's records share. */
function attributeTest(log: StoredLog, name: string, plain: string): Test | null {
  const nameId = log.names.indexOf(name);
  const valueIds = nameId === NONE ? new Set<number>() : idsOf(log.values, [`"${plain}`, plain]);
  const resources = log.resources;
  const shared = new Set(
    (resources?.values ?? []).flatMap((json, id) => (json !== null && holds(json, name, plain) ? [id] : [])),
  );
  if (valueIds.size === 0 && shared.size === 0) return null;
  return (record) => {
    if (resources !== null && shared.has(resources.ids[record] as number)) return true;
    let isThere = false;
    if (valueIds.size > 0) {
      log.eachAttribute(record, (id, value) => {
        if (id === nameId && valueIds.has(value)) isThere = true;
      });
    }
    return isThere;
  };
}

function holds(json: string, name: string, plain: string): boolean {
  const members = JSON.parse(json) as Readonly<Record<string, unknown>>;
  if (!Object.hasOwn(members, name)) return false;
  const value = members[name];
  return (typeof value === 'string' ? value : JSON.stringify(value)) === plain;
}

/** The places of texts. */
function idsOf(texts: Texts, wanted: readonly string[]): Set<number> {
  const bytes = wanted.map((text) => Buffer.from(text));
  const found = new Set<number>();
  let start = 0;
  for (let id = 0; id < texts.length; id += 1) {
    const end = texts.ends[id] as number;
    for (const one of bytes) {
      if (one.length === end - start && one.compare(texts.joined, start, end) === 0) found.add(id);
    }
    start = end;
  }
  return found;
}

function wordsTest(log: StoredLog, words: SearchedWords): Test | null {
  const wanted = [...words.whole, words.prefix as string].slice(0, WORD_BITS);
  const all = 2 ** wanted.length - 1;
  const inMessages = bitsOf(log.messages, wanted);
  const inValues = bitsOf(log.values, wanted);
  const { messageIds } = log;
  let possible = 0;
  for (const bits of inMessages) possible |= bits;
  for (const bits of inValues) possible |= bits;
  if (possible !== all) return null;
  return (record) => {
    let bits = inMessages[messageIds[record] as number] as number;
    if (bits !== all) {
      log.eachAttribute(record, (_, value) => {
        bits |= inValues[value] as number;
      });
    }
    return bits === all && holdsWords(storedWords(textsOf(log, record)), words);
  };
}

/** What a record is searched by. */
export function textsOf(log: StoredLog, record: number): string[] {
  const texts = [log.messages.at(log.messageIds[record] as number)];
  log.eachAttribute(record, (_, value) => texts.push(plainOf(log.values.at(value))));
  return texts;
}

/** Which of the words each text may hold, as bits: a text without their characters holds none. */
function bitsOf(texts: Texts, words: readonly string[]): Uint32Array {
  const bits = new Uint32Array(texts.length);
  if (isAscii(texts.joined)) {
    const lower = texts.joined.toString('latin1').toLowerCase();
    for (const [i, word] of words.entries()) markTexts(bits, texts, lower, word, 2 ** i);
    return bits;
  }
  for (let id = 0; id < texts.length; id += 1) {
    const text = texts.at(id);
    const lower = text.toLowerCase();
    // Other scripts have several spellings of a letter: their texts are looked at as they are cut.
    const isPlain = isAscii(Buffer.from(text));
    for (const [i, word] of words.entries())
      if (!isPlain || lower.includes(word)) bits[id] = (bits[id] as number) | (2 ** i);
  }
  return bits;
}

function markTexts(bits: Uint32Array, texts: Texts, lower: string, word: string, bit: number): void {
  let id = 0;
  for (let at = lower.indexOf(word); at !== NONE; ) {
    while ((texts.ends[id] as number) <= at) id += 1;
    const end = texts.ends[id] as number;
    if (at + word.length > end) {
      at = lower.indexOf(word, at + 1);
      continue;
    }
    bits[id] = (bits[id] as number) | bit;
    at = lower.indexOf(word, end);
  }
}
