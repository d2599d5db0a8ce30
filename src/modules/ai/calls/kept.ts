// Answers stored for replays of an idempotency key. They are encrypted with the key itself, which is stored nowhere.

import type { HeldAnswer } from '../../../core/wallet/holds/settle-hold.ts';
import type { Served } from '../../../kit/capability.ts';
import { isLonger } from '../../../lib/long-json.ts';
import { problem } from '../../../problems/problem.ts';
import { KEPT_BYTES_MAX } from '../limits.ts';
import type { ModelCall } from './model-call.ts';

const LABEL = 'ai-answer';

/** What is told again. */
export interface Kept<Body> {
  readonly body: Body;
  /** `vendor/model`. */
  readonly model: string;
  readonly served: Pick<Served, 'vendor' | 'region' | 'markupPct' | 'cacheLayer'>;
}

const TOO_LONG: HeldAnswer = { text: '{"sealed":null}' };

/** Undefined for a call without a key. Of an answer that is too long (null: known to be), only that there was one is kept. */
export function keep<Body>({ core, idempotency }: ModelCall, kept: Kept<Body> | null): HeldAnswer | undefined {
  if (idempotency === null) return undefined;
  if (kept === null || isLonger(kept, KEPT_BYTES_MAX)) return TOO_LONG;
  const text = JSON.stringify(kept);
  if (Buffer.byteLength(text) > KEPT_BYTES_MAX) return TOO_LONG;
  const sealed = core.secrets.encrypt(LABEL, idempotency.raw, text).toString('base64');
  return { text: JSON.stringify({ sealed }) };
}

/** Throws IDEMPOTENCY_CONFLICT when the answer was too long to be kept. */
export function reopen<Body>({ core, idempotency }: ModelCall, text: string): Kept<Body> {
  const { sealed } = JSON.parse(text) as { readonly sealed: string | null };
  if (sealed === null || idempotency === null) {
    const message =
      'The call with this key was answered, and charged; its answer was too long to be kept. Use another key.';
    throw problem('IDEMPOTENCY_CONFLICT', { message, param: 'idempotency_key' });
  }
  return JSON.parse(core.secrets.decrypt(LABEL, idempotency.raw, Buffer.from(sealed, 'base64')));
}
