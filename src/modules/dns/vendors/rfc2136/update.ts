// Request messages for a zone transfer (RFC 5936) and for updates of a zone (RFC 2136).
import { rdataOf } from '../../records/values.ts';
import {
  CLASSES,
  FLAGS,
  headerBytes,
  NO_RDATA,
  nameBytes,
  questionBytes,
  recordBody,
  TYPES,
} from '../../wire/message.ts';
import type { SetChange } from '../port.ts';

/** Of a message with its signature, which has 65,535 bytes at most. */
const UPDATE_BYTES_MAX = 60_000;

export function transferQuery(id: number, zone: string): Buffer {
  return Buffer.concat([headerBytes({ id, flags: 0, questions: 1 }), questionBytes(zone, TYPES.AXFR)]);
}

interface Update {
  /** What must hold before it, or nothing of it is done (RFC 2136, section 2.4). */
  readonly prerequisites: readonly Buffer[];
  readonly records: readonly Buffer[];
}

/** One message where they fit into one, in the order of the changes. `isUsed`: whether a name has records now. */
export function* updatesOf(
  zone: string,
  changes: readonly SetChange[],
  now: ReadonlyMap<string, ReadonlySet<string>>,
): Generator<(id: number) => Buffer> {
  let parts: Update[] = [];
  let bytes = 0;
  for (const change of inOrder(changes)) {
    const part = updateOf(change, now);
    const size = [...part.prerequisites, ...part.records].reduce((sum, { length }) => sum + length, 0);
    if (bytes + size > UPDATE_BYTES_MAX && parts.length > 0) {
      yield messageOf(zone, parts);
      [parts, bytes] = [[], 0];
    }
    parts.push(part);
    bytes += size;
  }
  if (parts.length > 0) yield messageOf(zone, parts);
}

/** By name, and what goes before what comes: a CNAME may take the place of other records. */
function inOrder(changes: readonly SetChange[]): readonly SetChange[] {
  const rank = ({ set }: SetChange) => (set === null ? 0 : 1);
  return changes.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : rank(a) - rank(b)));
}

function updateOf({ name, type, set }: SetChange, now: ReadonlyMap<string, ReadonlySet<string>>): Update {
  const owner = nameBytes(name);
  const number = TYPES[type];
  const cleared = Buffer.concat([owner, recordBody(number, 0, NO_RDATA, CLASSES.ANY)]);
  if (set === null) return { prerequisites: [], records: [cleared] };
  const added = set.values.map((value) => Buffer.concat([owner, recordBody(number, set.ttl, rdataOf(type, value))]));
  return { prerequisites: prerequisitesOf(owner, type, now.get(name)), records: [cleared, ...added] };
}

/**
 * A name server leaves out, in silence, a CNAME beside other records and others beside a CNAME (RFC 2136, section 3.4.2.2). So the update says what was
 * found before, and fails when somebody else has changed that meanwhile.
 */
function prerequisitesOf(owner: Buffer, type: string, types: ReadonlySet<string> | undefined): readonly Buffer[] {
  const without = (number: number) => [Buffer.concat([owner, recordBody(number, 0, NO_RDATA, CLASSES.NONE)])];
  if (type !== 'CNAME') return types?.has('CNAME') === true ? [] : without(TYPES.CNAME);
  return types === undefined ? without(TYPES.ANY) : [];
}

function messageOf(zone: string, parts: readonly Update[]): (id: number) => Buffer {
  const prerequisites = new Map(
    parts.flatMap((part) => part.prerequisites).map((one) => [one.toString('latin1'), one]),
  );
  const records = parts.flatMap((part) => part.records);
  const counts = { questions: 1, answers: prerequisites.size, authority: records.length };
  return (id) =>
    Buffer.concat([
      headerBytes({ id, flags: FLAGS.update, ...counts }),
      questionBytes(zone, TYPES.SOA),
      ...prerequisites.values(),
      ...records,
    ]);
}
