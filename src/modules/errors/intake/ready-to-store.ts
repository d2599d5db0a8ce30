// The single entry for events of every endpoint: scrubbed, cut into columns, charged and stored in the account's lane.

import type { IdempotencyKey } from '../../../core/callers/idempotency-key.ts';
import { type ChargedAnswer, chargeInLane } from '../../../core/wallet/charge/charge.ts';
import type { CallContext } from '../../../kit/services.ts';
import { firstCharacters } from '../../../lib/clean-text.ts';
import { scrubEvent } from '../../../lib/scrub/scrub.ts';
import { storedWords } from '../../../lib/words/words.ts';
import type { CaptureInput, ReadyEvent } from '../capture/capture-types.ts';
import { NAME_CHARACTERS_MAX, NO_EXCEPTION_TYPE } from '../limits.ts';
import { valueWord } from '../search/value-word.ts';
import type { ErrorsState } from '../state.ts';
import type { EventDraft } from './draft.ts';
import { detailFromThread, readyDetail } from './event-detail.ts';

const FIXED_BYTES = 1_024;

/**
 * Stores the event, which a thread may have made ready, for the price of one capture. Throws the Problem of a refusal; then nothing
 * is stored or charged. `idempotency`: in place of the key sent with the call.
 */
export function captureReady(
  ctx: CallContext,
  state: ErrorsState,
  ready: ReadyEvent,
  idempotency: IdempotencyKey | null = ctx.idempotency,
): Promise<ChargedAnswer> {
  const input = withUserHash(state, ctx.accountId, ready);
  return chargeInLane(ctx, {
    units: 1n,
    effect: state.capturing,
    input,
    sequences: 1,
    bytes: input.detail.length + (input.message?.length ?? 0) + FIXED_BYTES,
    rows: 1,
    ...(idempotency === null ? {} : { idempotency }),
  });
}

/** With a hash in place of the address that stands for the user. */
function withUserHash(state: ErrorsState, accountId: string, { contact, ...event }: ReadyEvent): CaptureInput {
  const detail = detailFromThread(event.detail);
  if (contact === null) return { ...event, detail };
  const userId = state.userHashes.of(accountId, contact);
  return { ...event, detail, userId, words: [...event.words, valueWord('user_id', userId)] };
}

/** Scrubs a draft and cuts it into columns; of a long one this takes milliseconds. */
export function readyToStore(draft: EventDraft, idempotencyKey: string | null): ReadyEvent {
  const { grouping, occurredAtMs, contact, ...sent } = draft;
  const clean = scrubEvent(sent);
  return {
    fingerprint: grouping.fingerprint,
    level: clean.level,
    title: clean.title,
    exceptionType: exceptionTypeOf(clean.exception),
    message: clean.message,
    environment: clean.environment,
    release: clean.release,
    userId: clean.user_id,
    tags: clean.tags,
    contact,
    occurredAtMs,
    detail: readyDetail(clean, { fingerprint_source: grouping.source, idempotency_key: idempotencyKey }),
    words: searchWords(clean),
  };
}

function searchWords(clean: Omit<EventDraft, 'grouping' | 'occurredAtMs' | 'contact'>): string[] {
  const { exception, environment, release, user_id: userId, tags } = clean;
  return [
    ...storedWords([
      clean.title,
      clean.message,
      exception?.type ?? null,
      exception?.value ?? null,
      thrownIn(exception),
    ]),
    valueWord('level', clean.level),
    ...(environment === null ? [] : [valueWord('environment', environment)]),
    ...(release === null ? [] : [valueWord('release', release)]),
    ...(userId === null ? [] : [valueWord('user_id', userId)]),
    ...Object.entries(tags).map(([name, value]) => valueWord(`tags.${name}`, value)),
  ];
}

function exceptionTypeOf(exception: EventDraft['exception']): string | null {
  if (exception === null || exception.type === '' || exception.type === NO_EXCEPTION_TYPE) return null;
  return firstCharacters(exception.type, NAME_CHARACTERS_MAX);
}

/** The file where it was thrown: that of the innermost frame of one's own code, else of the innermost. */
function thrownIn(exception: EventDraft['exception']): string | null {
  const frames = exception?.stacktrace ?? [];
  const frame = frames.find((each) => each.in_app) ?? frames[0];
  return frame?.file ?? null;
}
