// Intake of a call's events, whatever its protocol: they are validated, cleaned and ordered on their way to blocks. The result survives
// structured cloning, since long bodies are read in threads. People are resolved only in the commit.
import { isbot } from 'isbot';
import { cleanJson, cleanText } from '../../../lib/clean-text.ts';
import { type PackedPart, packParts } from '../events/pack.ts';
import {
  AGE_MS_MAX,
  AHEAD_MS_MAX,
  DISTINCT_ID_CHARACTERS_MAX,
  NAME_CHARACTERS_MAX,
  NESTING_MAX,
  PEOPLE_BYTES_MAX,
  PROPERTIES_BYTES_MAX,
  PROPERTIES_MAX,
} from '../limits.ts';
import { isDeeper } from './depth.ts';
import { type Members, type PersonChange, personChangeOf } from './person-change.ts';
import { uuidBytes } from './uuid.ts';

/** A few events are packed in the commit, together with those of other calls. */
const FEW_EVENTS = 50;
const FEW_BYTES = 16 * 1024;
const REJECTED_TOLD_MAX = 1_000;
const USER_AGENT_CHARACTERS_MAX = 1_000;

export interface SentEvent {
  readonly event: string;
  readonly distinctId: string;
  readonly properties: Members;
  readonly timeMs: number;
  /** Any text that tells the event from others; null: none was sent. */
  readonly uuid: string | null;
}

export interface Rejected {
  /** Its place in the call. */
  readonly index: number;
  readonly reason: string;
}

export interface ReadyEvents {
  readonly records: number;
  /** JSON of their properties. */
  readonly bytes: number;
  readonly rejected: readonly Rejected[];
  // A value an event, in the order of time.
  readonly times: Float64Array;
  readonly nameOf: Uint32Array;
  readonly idOf: Uint32Array;
  readonly bots: Uint8Array;
  /** 16 bytes each; where `hasUuid` is 0 they say nothing. */
  readonly uuids: Uint8Array;
  readonly hasUuid: Uint8Array;
  /** JSON objects of a few events, empty for none; null: they are in `parts`. */
  readonly properties: readonly string[] | null;
  /** What is packed already, by spans. */
  readonly parts: readonly PackedPart[] | null;
  readonly names: readonly string[];
  /** Distinct IDs of events, and of those who are joined with them. */
  readonly ids: readonly string[];
  readonly people: readonly PersonChange[];
}

interface Taken {
  readonly timeMs: number;
  readonly name: number;
  readonly id: number;
  readonly isBot: boolean;
  readonly uuid: Buffer | null;
  readonly properties: Members;
  readonly json: string;
  readonly change: Omit<PersonChange, 'event'> | null;
}

export class Intake {
  readonly #nowMs: number;
  readonly #eventsMax: number;
  readonly #taken: Taken[] = [];
  readonly #rejected: Rejected[] = [];
  readonly #names = new Map<string, number>();
  readonly #ids = new Map<string, number>();
  readonly #bots = new Map<string, boolean>();
  #bytes = 0;
  #peopleBytes = 0;
  #sent = 0;

  constructor(nowMs: number, eventsMax: number) {
    this.#nowMs = nowMs;
    this.#eventsMax = eventsMax;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Takes or rejects an event. `userAgent`: of a browser that sends for itself; null: of nobody. */
  add(sent: SentEvent, userAgent: string | null): void {
    const reason = this.#take(sent, userAgent);
    if (reason !== null) this.reject(reason);
    else this.#sent += 1;
  }

  reject(reason: string): void {
    if (this.#rejected.length < REJECTED_TOLD_MAX) this.#rejected.push({ index: this.#sent, reason });
    this.#sent += 1;
  }

  #take({ event, distinctId, properties, timeMs, uuid }: SentEvent, userAgent: string | null): string | null {
    if (this.#taken.length >= this.#eventsMax) return `A call may have at most ${this.#eventsMax} events.`;
    const name = cleanText(event);
    const id = cleanText(distinctId);
    if (name === '' || name.length > NAME_CHARACTERS_MAX)
      return `event must have 1 to ${NAME_CHARACTERS_MAX} characters.`;
    if (id === '' || id.length > DISTINCT_ID_CHARACTERS_MAX) {
      return `distinct_id must have 1 to ${DISTINCT_ID_CHARACTERS_MAX} characters.`;
    }
    if (!(timeMs >= this.#nowMs - AGE_MS_MAX)) return 'timestamp is more than 365 days old.';
    if (timeMs > this.#nowMs + AHEAD_MS_MAX) return 'timestamp is more than 10 minutes ahead.';
    const kept = keptProperties(properties);
    if (typeof kept === 'string') return kept;
    const json = JSON.stringify(kept);
    if (json.length > PROPERTIES_BYTES_MAX || Buffer.byteLength(json) > PROPERTIES_BYTES_MAX) {
      return `properties may have at most ${PROPERTIES_BYTES_MAX} bytes.`;
    }
    const change = personChangeOf(name, properties, (other) => placeOf(this.#ids, other));
    if (typeof change === 'string') return change;
    const peopleBytes = (change?.set?.length ?? 0) + (change?.setOnce?.length ?? 0);
    if (this.#peopleBytes + peopleBytes > PEOPLE_BYTES_MAX) {
      return `$set and $set_once of a call may have at most ${PEOPLE_BYTES_MAX} characters together.`;
    }
    this.#peopleBytes += peopleBytes;
    this.#bytes += json.length;
    this.#taken.push({
      timeMs: Math.floor(timeMs),
      name: placeOf(this.#names, name),
      id: placeOf(this.#ids, id),
      isBot: this.#isBot(properties, userAgent),
      uuid: uuid === null ? null : uuidBytes(uuid),
      properties: kept,
      json: json === '{}' ? '' : json,
      change,
    });
    return null;
  }

  ready(): ReadyEvents {
    const taken = this.#taken.sort((a, b) => a.timeMs - b.timeMs);
    const count = taken.length;
    const uuids = new Uint8Array(count * 16);
    for (const [i, { uuid }] of taken.entries()) if (uuid !== null) uuids.set(uuid, i * 16);
    const times = Float64Array.from(taken, ({ timeMs }) => timeMs);
    const nameOf = Uint32Array.from(taken, ({ name }) => name);
    const bots = Uint8Array.from(taken, ({ isBot }) => Number(isBot));
    const hasUuid = Uint8Array.from(taken, ({ uuid }) => Number(uuid !== null));
    const names = [...this.#names.keys()];
    const isFew = count <= FEW_EVENTS && this.#bytes <= FEW_BYTES;
    const columns = { times, names, nameOf, bots, uuids, hasUuid };
    return {
      ...columns,
      records: count,
      bytes: this.#bytes,
      rejected: this.#rejected,
      idOf: Uint32Array.from(taken, ({ id }) => id),
      properties: isFew ? taken.map(({ json }) => json) : null,
      parts: isFew ? null : packParts(columns, taken),
      ids: [...this.#ids.keys()],
      people: taken.flatMap(({ change }, event) => (change === null ? [] : [{ ...change, event }])),
    };
  }

  /** By what the event says of its browser, else by what sent it. */
  #isBot({ $raw_user_agent: raw, $user_agent: own }: Members, sent: string | null): boolean {
    const userAgent = [raw, own, sent].find((each) => typeof each === 'string' && each !== '');
    if (typeof userAgent !== 'string') return false;
    const text = userAgent.slice(0, USER_AGENT_CHARACTERS_MAX);
    const known = this.#bots.get(text);
    if (known !== undefined) return known;
    const found = isbot(text);
    this.#bots.set(text, found);
    return found;
  }
}

function placeOf(places: Map<string, number>, text: string): number {
  const known = places.get(text);
  if (known !== undefined) return known;
  places.set(text, places.size);
  return places.size - 1;
}

/** Names of properties that say nothing of the event: who sends, and what is kept with the person. No IP is kept. */
const dropped = new Set(['$ip', 'token', '$set', '$set_once', '$unset', 'distinct_id']);

/** What of the properties is kept, cleaned; a sentence when it is too much. */
function keptProperties(sent: Members): Members | string {
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(sent)) {
    if (value === null || value === undefined || dropped.has(name)) continue;
    if (kept.length === PROPERTIES_MAX) return `An event may have at most ${PROPERTIES_MAX} properties.`;
    if (name.length > NAME_CHARACTERS_MAX)
      return `Names of properties may have at most ${NAME_CHARACTERS_MAX} characters.`;
    if (isDeeper(value, NESTING_MAX)) return `properties may nest at most ${NESTING_MAX} deep.`;
    // A number that JSON cannot hold.
    if (typeof value === 'number' && !Number.isFinite(value)) continue;
    kept.push([cleanText(name), cleanJson(value)]);
  }
  // Own members, also one that is called __proto__.
  return Object.fromEntries(kept);
}
