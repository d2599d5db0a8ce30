// Turns one body from bytes into the input of its capability, with the same checks as every other body, in the same order.

import { KEY_FIELD, requestFingerprint } from '../../core/idempotency/fingerprint.ts';
import type { BulkBody } from '../../kit/bulk-body.ts';
import { Problem } from '../../problems/problem.ts';
import type { Endpoint } from '../endpoint.ts';
import { checkFields } from '../input/check-input.ts';
import { readJsonObject } from '../input/json-object.ts';

export interface BulkOutcome {
  /** What was made of the input; with `idempotency_key` as it was sent. */
  readonly input: Record<string, unknown>;
  /** Null where the call brings no idempotency key, and nobody asks for it. */
  readonly fingerprint: string | null;
  readonly warnings: readonly string[];
  /** What is wrong with the input: told after what is wrong with the idempotency key. */
  readonly failure: Problem | null;
}

/** What the rest of the request says of how its body is read. */
export interface RequestParts {
  /** Of its fingerprint. */
  readonly prefix: string;
  /** The idempotency key that comes by another way than the body. */
  readonly sent: string | null;
  /** Unknown fields are ignored with a warning. */
  readonly ignoresUnknown: boolean;
  /** The fingerprint is wanted without a key, too. */
  readonly isFingerprinted: boolean;
}

/** Throws the Problems of a body that is no JSON object. */
export function readOutcome(
  endpoint: Endpoint,
  body: Buffer,
  { prefix, sent: beside, ignoresUnknown, isFingerprinted }: RequestParts,
): { outcome: BulkOutcome; transfer: readonly ArrayBuffer[] } {
  const { text, value: input } = readJsonObject(body, endpoint.opaque);
  const key = input[KEY_FIELD];
  const sent = Object.hasOwn(input, KEY_FIELD) ? { [KEY_FIELD]: key } : {};
  delete input[KEY_FIELD];
  const isKeyed = beside !== null || Object.hasOwn(sent, KEY_FIELD);
  const fingerprint = isKeyed || isFingerprinted ? requestFingerprint(prefix, text) : null;
  const idempotencyKey = beside ?? (typeof key === 'string' ? key : null);
  try {
    // First: the schema says how many parts there may be.
    const unknown = checkFields(input, endpoint, { bodyCharacters: text.length, ignoresUnknown });
    const { reduce } = endpoint.capability.bulk as BulkBody;
    const { value: reduced, transfer, warnings = [] } = reduce(input, { text, idempotencyKey });
    const told = [...unknown, ...warnings];
    return { outcome: { input: { ...reduced, ...sent }, fingerprint, warnings: told, failure: null }, transfer };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { outcome: { input: sent, fingerprint, warnings: [], failure: error }, transfer: [] };
  }
}
