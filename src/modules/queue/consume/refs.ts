// Message references in calls of ack, nack and extend: message ids and receipt handles.
import { invalidField, problem } from '../../../problems/problem.ts';
import type { MessageIds, MessageRef } from '../messages/message-id.ts';

export interface RefInput {
  readonly message_id?: string;
  readonly receipt_handle?: string;
}

/** One named message: `text` as sent, `ref` null when this account was never given such an id. */
export interface NamedRef {
  readonly text: string;
  readonly ref: MessageRef | null;
}

/** Either field takes either kind of value; both must name the same message. Throws VALIDATION_FAILED, INVALID_REQUEST. */
export function singleRef(ids: MessageIds, accountId: string, input: RefInput): NamedRef {
  const { message_id: messageId, receipt_handle: receipt } = input;
  if (messageId === undefined && receipt === undefined)
    throw invalidField('receipt_handle', 'required', 'Send receipt_handle or message_id.');
  const first = namedRef(ids, accountId, receipt ?? (messageId as string));
  if (messageId === undefined || receipt === undefined) return first;
  const second = namedRef(ids, accountId, messageId);
  const same = first.ref === null || second.ref === null ? messageId === receipt : first.ref.seq === second.ref.seq;
  if (!same)
    throw problem('INVALID_REQUEST', {
      param: 'message_id',
      message: 'message_id and receipt_handle name different messages.',
    });
  return first.ref?.attempt === null ? second : first;
}

/** The list, when one was sent. Throws INVALID_REQUEST when a single one was sent beside it. */
export function refList(
  ids: MessageIds,
  accountId: string,
  input: RefInput & { readonly receipts?: readonly string[] },
): NamedRef[] | null {
  if (input.receipts === undefined) return null;
  if (input.message_id !== undefined || input.receipt_handle !== undefined) {
    throw problem('INVALID_REQUEST', {
      param: 'receipts',
      message: 'Send receipts, or a single receipt_handle or message_id, not both.',
    });
  }
  return input.receipts.map((text) => namedRef(ids, accountId, text));
}

function namedRef(ids: MessageIds, accountId: string, text: string): NamedRef {
  return { text, ref: ids.parse(accountId, text) };
}

/** The id to show for a named message: what was sent when we never handed it out. */
export function shownId(ids: MessageIds, accountId: string, { text, ref }: NamedRef): string {
  return ref === null ? text : ids.messageId(accountId, ref.seq);
}

/** Calls `answer` with the known ones and puts its answers back in order; unknown ones get `missing`. */
export async function answerKnown<R>(
  named: readonly NamedRef[],
  missing: R,
  answer: (refs: MessageRef[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const known = named.flatMap(({ ref }) => (ref === null ? [] : [ref]));
  const results = known.length === 0 ? [] : await answer(known);
  let next = 0;
  return named.map(({ ref }) => {
    if (ref === null) return missing;
    next += 1;
    return results[next - 1] as R;
  });
}
