// A record set: all values of one name and type, with one time to live (RFC 2181, section 5). Rules for a single set are checked here; rules
// between sets, in store.ts.
import { invalidField } from '../../../problems/problem.ts';
import { SET_BYTES_MAX, VALUES_MAX } from '../limits.ts';
import { requireRecordName } from './names.ts';
import { BadValue } from './tokens.ts';
import { type RecordType, rdataOf, readValue, recordTypes } from './values.ts';

export interface RecordSet {
  /** Whole, in lower case, without the last dot. */
  readonly name: string;
  readonly type: RecordType;
  readonly ttl: number;
  /** In their stored form, each once. */
  readonly values: readonly string[];
}

export interface SentSet {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly values: readonly string[];
}

/** `param`: what comes before the names of the fields in a failure. Throws VALIDATION_FAILED. */
export function readSet(sent: SentSet, zone: string, param = ''): RecordSet {
  const name = requireRecordName(sent.name, zone, `${param}name`);
  const type = requireType(sent.type, `${param}type`);
  const values = sent.values.map((value, at) => {
    try {
      return readValue(type, value);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      throw invalidField(`${param}values[${at}]`, 'value', error.message);
    }
  });
  const set = { name, type, ttl: sent.ttl, values: [...new Set(values)] };
  const fault = faultOf(set, zone);
  if (fault !== null) throw invalidField(`${param}values`, 'record_set', fault);
  return set;
}

export function requireType(type: string, param: string): RecordType {
  const found = recordTypes.find((each) => each === type.toUpperCase());
  if (found !== undefined) return found;
  throw invalidField(param, 'enum', `${param} must be one of ${recordTypes.join(', ')}.`);
}

/** A sentence for what is wrong with the set by itself; null: nothing. */
export function faultOf({ name, type, values }: RecordSet, zone: string): string | null {
  if (values.length > VALUES_MAX) return `A name has at most ${VALUES_MAX} values of a type.`;
  if (type === 'CNAME' && values.length > 1) return 'A name has one CNAME.';
  if (type === 'CNAME' && name === zone) return `${zone} has NS and SOA records, and no CNAME may stand beside them.`;
  if (type === 'CNAME' && values[0] === name) return 'A CNAME must not lead to itself.';
  if (type === 'NS' && name.startsWith('*.')) return 'A wildcard has no NS records.';
  const bytes = values.reduce((sum, value) => sum + 12 + rdataOf(type, value).length, 0);
  return bytes > SET_BYTES_MAX ? `All values of a name and type have at most ${SET_BYTES_MAX} bytes.` : null;
}
