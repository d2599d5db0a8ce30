// Zone files (RFC 1035, section 5; $TTL: RFC 2308): read whole or not at all, and written. SOA and NS of the zone itself are this service's own,
// and left out. $INCLUDE and $GENERATE are refused.
import { TimeSlices } from '../../../lib/time-slices.ts';
import { RECORDS_MAX, SOA, TTL_MAX, TTL_MIN, TTL_USUAL } from '../limits.ts';
import { readName, recordName } from '../records/names.ts';
import { faultOf, type RecordSet } from '../records/sets.ts';
import { BadLine, BadValue, bytesText, type Entry, entriesOf, type Token } from '../records/tokens.ts';
import { fileValue, fileValueOf, type RecordType, recordTypes } from '../records/values.ts';

/** Writing one takes some microseconds. */
const SETS_PER_LOOK = 32;
const slices = new TimeSlices();
const TYPES: ReadonlySet<string> = new Set(recordTypes);
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

export interface ZoneFile {
  readonly sets: readonly RecordSet[];
  /** SOA and NS records of the zone itself that were left out. */
  readonly leftOut: number;
}

interface Growing {
  readonly name: string;
  readonly type: RecordType;
  readonly ttl: number;
  readonly values: Set<string>;
  readonly line: number;
}

/** Throws BadLine. */
export function readZoneFile(content: string, zone: string): ZoneFile {
  const reading = new ZoneReading(zone);
  for (const entry of entriesOf(bytesText(content))) reading.take(entry);
  return reading.end();
}

class ZoneReading {
  readonly #zone: string;
  readonly #sets = new Map<string, Growing>();
  #origin: string;
  #ttl: number | null = null;
  #name: string | null = null;
  #values = 0;
  #leftOut = 0;

  constructor(zone: string) {
    this.#zone = zone;
    this.#origin = zone;
  }

  take(entry: Entry): void {
    const [first, ...rest] = entry.tokens;
    if (first?.isQuoted === false && first.text.startsWith('$') && !entry.isIndented) {
      this.#directive(entry.line, first.text.toUpperCase(), rest);
      return;
    }
    try {
      this.#record(entry);
    } catch (error) {
      if (error instanceof BadLine || !(error instanceof BadValue)) throw error;
      throw new BadLine(entry.line, error.message);
    }
  }

  end(): ZoneFile {
    const sets = [...this.#sets.values()].map(({ values, line, ...set }) => {
      const whole = { ...set, values: [...values] };
      const fault = faultOf(whole, this.#zone);
      if (fault !== null) throw new BadLine(line, fault);
      return whole;
    });
    return { sets, leftOut: this.#leftOut };
  }

  #directive(line: number, name: string, [value, ...more]: readonly Token[]): void {
    if (name !== '$ORIGIN' && name !== '$TTL') throw new BadLine(line, `${name} is not taken: write its records out.`);
    if (value === undefined || more.length > 0) throw new BadLine(line, `${name} takes one word.`);
    if (name === '$TTL') {
      this.#ttl = ttlOf(value.text);
      if (this.#ttl === null) throw new BadLine(line, `${value.text.slice(0, 40)} is no time to live.`);
      return;
    }
    const origin = recordName(textOf(value), this.#zone, this.#origin);
    if (origin === null) throw new BadLine(line, `$ORIGIN must be a name in ${this.#zone}.`);
    this.#origin = origin;
  }

  #record({ line, isIndented, tokens }: Entry): void {
    const [owner, ...behind] = tokens;
    if (!isIndented) this.#name = this.#ownerOf(owner);
    if (this.#name === null) throw new BadValue('the first record has no name.');
    const { ttl, type, words } = headOf(isIndented ? tokens : behind);
    const name = this.#name;
    if (type === 'SOA' || (type === 'NS' && name === this.#zone)) {
      this.#leftOut += 1;
      return;
    }
    if (!TYPES.has(type)) throw new BadValue(`type ${type.slice(0, 20)} is not served: leave the record out.`);
    const known = type as RecordType;
    const value = fileValueOf(known, words, (text) => targetOf(text, this.#origin));
    const key = `${name} ${known}`;
    const set = this.#sets.get(key) ?? {
      name,
      type: known,
      ttl: ttl ?? this.#ttl ?? TTL_USUAL,
      values: new Set(),
      line,
    };
    this.#sets.set(key, set);
    this.#values += set.values.has(value) ? 0 : 1;
    set.values.add(value);
    if (this.#values > RECORDS_MAX) throw new BadValue(`a zone has at most ${RECORDS_MAX} records.`);
  }

  #ownerOf(token: Token | undefined): string {
    const text = token === undefined ? '' : textOf(token);
    const name = token?.isEscaped === true ? null : recordName(text, this.#zone, this.#origin);
    if (name === null) throw new BadValue(`${text.slice(0, 100)} is no name in ${this.#zone}.`);
    return name;
  }
}

/** Time to live and class stand before the type, in any order. */
function headOf(tokens: readonly Token[]) {
  let ttl: number | null = null;
  let at = 0;
  for (; at < Math.min(2, tokens.length); at += 1) {
    const { text } = tokens[at] as Token;
    const seconds: number | null = ttl === null ? ttlOf(text) : null;
    if (seconds !== null) ttl = seconds;
    else if (/^(?:CH|HS|CS|ANY)$/i.test(text)) throw new BadValue(`class ${text} is not served.`);
    else if (text.toUpperCase() !== 'IN') break;
  }
  const type = tokens[at]?.text.toUpperCase() ?? '';
  if (type === '') throw new BadValue('the record has no type.');
  return { ttl, type, words: tokens.slice(at + 1) };
}

/** Seconds, or `1h30m`; null for what is none, or too long. */
function ttlOf(text: string): number | null {
  const isUnits = /^(?:\d{1,6}[smhdw]){1,5}$/i.test(text);
  if (!isUnits && !/^\d{1,10}$/.test(text)) return null;
  const seconds = isUnits
    ? [...text.matchAll(/(\d+)([a-z])/gi)].reduce((sum, [, n, unit]) => sum + Number(n) * secondsOf(unit), 0)
    : Number(text);
  return Math.min(Math.max(seconds, TTL_MIN), TTL_MAX);
}

function secondsOf(unit = 's'): number {
  return SECONDS[unit.toLowerCase()] ?? 1;
}

/** A host: without a last dot it is relative; `@` is the origin itself. */
function targetOf(text: string, origin: string): string | null {
  if (text === '@') return origin;
  return readName(text.endsWith('.') ? text : `${text}.${origin}`);
}

function textOf({ text }: Token): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}

/** A zone as a file tells it. `nameServers` stand where the zone has no NS records of its own. */
export interface WrittenZone {
  readonly zone: string;
  readonly serial: bigint;
  readonly nameServers: readonly string[];
  readonly nsTtl: number;
}

/** Others have their turns while a long one is written. */
export async function writeZoneFile(
  { zone, serial, nameServers, nsTtl }: WrittenZone,
  sets: readonly RecordSet[],
): Promise<string> {
  const { refresh, retry, expire, minimum, ttl } = SOA;
  const hasOwn = sets.some(({ name, type }) => type === 'NS' && name === zone);
  const [primary = ''] = nameServers;
  const soa = `${primary}. hostmaster.${zone}. ${serial} ${refresh} ${retry} ${expire} ${minimum}`;
  const lines = [`$ORIGIN ${zone}.`, `$TTL ${TTL_USUAL}`, `@ ${ttl} IN SOA ${soa}`];
  if (!hasOwn) for (const host of nameServers) lines.push(`@ ${nsTtl} IN NS ${host}.`);
  for (const [at, { name, type, ttl: seconds, values }] of sets.entries()) {
    if (at % SETS_PER_LOOK === SETS_PER_LOOK - 1 && slices.isOver) await slices.next();
    const owner = name === zone ? '@' : name.slice(0, -zone.length - 1);
    for (const value of values) lines.push(`${owner} ${seconds} IN ${type} ${fileValue(type, value)}`);
  }
  return `${lines.join('\n')}\n`;
}
