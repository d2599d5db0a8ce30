// Changes of record sets from PowerDNS' API: all or none, in their order; in one transaction where this service answers for the zone.

import type { BodyTask } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { CHANGES_MAX, TTL_MAX, TTL_MIN, TTL_USUAL, VALUES_MAX } from '../limits.ts';
import { type Edit, editZone } from '../records/edit.ts';
import { requireRecordName } from '../records/names.ts';
import { readSet, requireType } from '../records/sets.ts';
import type { DnsState } from '../state.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Change {
  readonly name: string;
  readonly type: string;
  readonly isRemoval: boolean;
  readonly ttl: number;
  readonly values: readonly string[];
}

/** Reads the body. Throws MALFORMED_JSON, VALIDATION_FAILED. */
export const readChanges: BodyTask<readonly Change[]> = {
  source: import.meta.url,
  id: 'readChanges',
  run(body) {
    let sent: unknown;
    try {
      sent = JSON.parse(body.toString('utf8'));
    } catch (cause) {
      throw problem('MALFORMED_JSON', { cause });
    }
    const sets = fieldsOf(sent).rrsets;
    if (!Array.isArray(sets) || sets.length > CHANGES_MAX) {
      throw invalidField('rrsets', 'type', `rrsets must be a list of at most ${CHANGES_MAX} record sets.`);
    }
    return sets.map((set, at) => changeOf(fieldsOf(set), `rrsets[${at}].`));
  },
};

function changeOf(set: Fields, param: string): Change {
  const { name, type, changetype, ttl = TTL_USUAL, records = [] } = set;
  if (typeof name !== 'string' || name.length > 1_000) throw wrong(param, 'name', 'must be the name of a record');
  if (typeof type !== 'string') throw wrong(param, 'type', 'must be the type of a record');
  const asked = String(changetype).toUpperCase();
  if (asked !== 'REPLACE' && asked !== 'DELETE') throw wrong(param, 'changetype', 'must be REPLACE or DELETE');
  if (!Array.isArray(records) || records.length > VALUES_MAX) {
    throw wrong(param, 'records', `must be a list of at most ${VALUES_MAX}`);
  }
  const values =
    asked === 'DELETE'
      ? []
      : records
          .map(fieldsOf)
          .filter(({ disabled }) => disabled !== true)
          .map(({ content }) => content);
  if (!values.every((value) => typeof value === 'string')) throw wrong(param, 'records', 'must each have a content');
  const isRemoval = values.length === 0;
  if (!isRemoval && !(Number.isInteger(ttl) && (ttl as number) >= TTL_MIN && (ttl as number) <= TTL_MAX)) {
    throw wrong(param, 'ttl', `must be ${TTL_MIN} to ${TTL_MAX} seconds`);
  }
  return { name, type, isRemoval, ttl: ttl as number, values };
}

/** Throws NOT_FOUND, VALIDATION_FAILED, QUOTA_EXCEEDED. */
export async function patchSets(
  ctx: CallContext,
  state: DnsState,
  typed: string,
  changes: readonly Change[],
): Promise<void> {
  await editZone(ctx, state, {
    zone: typed,
    param: 'rrsets',
    edits: (zone) => changes.map((change, at) => editOf(change, zone, `rrsets[${at}].`)),
    answer: () => null,
  });
}

function editOf(change: Change, zone: string, param: string): Edit {
  if (!change.isRemoval) return { kind: 'set', sets: [readSet(change, zone, param)] };
  const name = requireRecordName(change.name, zone, `${param}name`);
  return { kind: 'remove', name, type: requireType(change.type, `${param}type`) };
}

function wrong(param: string, field: string, what: string) {
  return invalidField(`${param}${field}`, 'type', `${param}${field} ${what}.`);
}

function fieldsOf(value: unknown): Fields {
  return value !== null && typeof value === 'object' ? (value as Fields) : {};
}
