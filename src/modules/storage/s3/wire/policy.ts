// POST policies of Amazon S3 (docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html): what a form may say, signed by a key. The
// document is read only once its signature is right.
import { PUT_BYTES_MAX } from '../../../../objects/limits.ts';
import { refusal } from './refusals.ts';

const CONDITIONS_MAX = 100;
/** All that a form says must stand in its policy, but for these. A checksum only says what the file is. */
const FREE = new Set(['policy', 'x-amz-signature', 'signature', 'awsaccesskeyid', 'file']);
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

interface Condition {
  readonly operator: 'eq' | 'starts-with';
  /** In lower case. */
  readonly field: string;
  readonly value: string;
}

export interface PostPolicy {
  readonly endsMs: number;
  readonly conditions: readonly Condition[];
  readonly bytesMin: number;
  readonly bytesMax: number;
}

/** `text`: in base64, as the form has it. Throws InvalidPolicyDocument. */
export function readPolicy(text: string): PostPolicy {
  const document = parseDocument(text);
  if (!isRecord(document)) throw invalid('The policy is one JSON object.');
  const { expiration, conditions } = document;
  if (typeof expiration !== 'string' || !INSTANT.test(expiration) || Number.isNaN(Date.parse(expiration))) {
    throw invalid('The policy needs an expiration such as 2030-01-31T12:00:00Z.');
  }
  if (!Array.isArray(conditions) || conditions.length > CONDITIONS_MAX) {
    throw invalid(`The policy needs a list of conditions, ${CONDITIONS_MAX} at most.`);
  }
  let [bytesMin, bytesMax] = [0, PUT_BYTES_MAX];
  const read: Condition[] = [];
  for (const each of conditions) {
    if (Array.isArray(each) && String(each[0]).toLowerCase() === 'content-length-range') {
      const [low, high] = rangeOf(each);
      // Of several all hold.
      [bytesMin, bytesMax] = [Math.max(bytesMin, low), Math.min(bytesMax, high)];
    } else read.push(...(Array.isArray(each) ? [conditionOf(each)] : equalities(each)));
  }
  return { endsMs: Date.parse(expiration), conditions: read, bytesMin, bytesMax };
}

function parseDocument(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    throw invalid('The policy is not JSON in base64.');
  }
}

function rangeOf(condition: readonly unknown[]): [number, number] {
  const [, low, high, ...more] = condition.map(Number);
  const isSound = Number.isSafeInteger(low) && Number.isSafeInteger(high) && Number(low) >= 0 && more.length === 0;
  if (!isSound) throw invalid('content-length-range has two whole numbers from 0: the least bytes, and the most.');
  return [low as number, high as number];
}

function conditionOf(condition: readonly unknown[]): Condition {
  const [sent, field, value, ...more] = condition;
  const operator = String(sent).toLowerCase();
  const isKnown = operator === 'eq' || operator === 'starts-with';
  if (!isKnown || typeof field !== 'string' || !field.startsWith('$') || typeof value !== 'string' || more.length > 0) {
    throw invalid(
      'A condition is {"field": "value"}, ["eq" or "starts-with", "$field", "value"] or ["content-length-range", 0, 1000].',
    );
  }
  return { operator, field: field.slice(1).toLowerCase(), value };
}

function equalities(condition: unknown): Condition[] {
  const pairs = isRecord(condition) ? Object.entries(condition) : [];
  if (pairs.length !== 1) throw invalid('A condition in braces names one field.');
  return pairs.map(([field, value]) => {
    if (typeof value !== 'string') throw invalid('The value of a condition is a text.');
    return { operator: 'eq', field: field.toLowerCase(), value };
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * `fields`: of the form by their names in lower case, with `bucket` of the address, and `key` as it will stand. Throws AccessDenied: the form says
 * what its policy does not.
 */
export function requireAllowed(policy: PostPolicy, fields: ReadonlyMap<string, string>, nowMs: number): void {
  if (policy.endsMs <= nowMs) throw denial('Policy expired.');
  const named = new Set(policy.conditions.map(({ field }) => field));
  for (const { operator, field, value } of policy.conditions) {
    const sent = fields.get(field) ?? '';
    const holds = operator === 'eq' ? sent === value && fields.has(field) : beginsWith(field, sent, value);
    if (holds) continue;
    throw denial(`Policy Condition failed: ["${operator}", "$${field.slice(0, 60)}", …].`);
  }
  const extra = [...fields.keys()].find(
    (name) => !named.has(name) && !FREE.has(name) && !/^x-(ignore|amz-checksum)-/.test(name),
  );
  if (extra !== undefined) throw denial(`Extra input fields: ${extra.slice(0, 60)}.`);
}

/** In a list of types each must: browsers go by the last one. */
function beginsWith(field: string, sent: string, value: string): boolean {
  if (field !== 'content-type') return sent.startsWith(value);
  return sent.split(',').every((one) => one.trimStart().startsWith(value));
}

function invalid(message: string) {
  return refusal('InvalidPolicyDocument', `Invalid Policy: ${message}`);
}

function denial(message: string) {
  return refusal('AccessDenied', `Invalid according to Policy: ${message}`);
}
