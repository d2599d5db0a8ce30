// Size limits of model-call bodies: what a thread has read is read once more on the event loop, in one piece.
import { isObject, type WireObject } from '../../../lib/chat/body.ts';
import { invalidField } from '../../../problems/problem.ts';
import { BODY_DEPTH_MAX, BODY_VALUES_MAX, CONTENT_PARTS_MAX, TOKENS_SENT_MAX } from '../limits.ts';

/** Throws VALIDATION_FAILED, which names the list of messages as it is called on the wire. */
export function requireFewParts(messages: readonly WireObject[], name: string): void {
  const parts = messages.reduce((sum, { content }) => sum + (Array.isArray(content) ? content.length : 1), 0);
  if (parts <= CONTENT_PARTS_MAX) return;
  const message = `${name} has ${parts} content parts; at most ${CONTENT_PARTS_MAX} are allowed in a request. Join texts into fewer parts.`;
  throw invalidField(name, 'max_parts', message);
}

/** Of embeddings that are asked for by tokens. Throws VALIDATION_FAILED. */
export function requireFewTokens(inputs: readonly unknown[]): void {
  const tokens = inputs.reduce<number>((sum, input) => sum + (Array.isArray(input) ? input.length : 0), 0);
  if (tokens <= TOKENS_SENT_MAX) return;
  const message = `input has ${tokens} tokens; at most ${TOKENS_SENT_MAX} are allowed in a request. Send several requests.`;
  throw invalidField('input', 'max_tokens', message);
}

/** Throws VALIDATION_FAILED, which names the field that has too much. */
export function requireSize(sent: WireObject): void {
  let values = 0;
  for (const [name, value] of Object.entries(sent)) {
    values += valuesIn(value, name, BODY_VALUES_MAX - values);
    if (values <= BODY_VALUES_MAX) continue;
    const message = `The body has more than ${BODY_VALUES_MAX} members and list elements with those of ${name}. Send fewer.`;
    throw invalidField(name, 'max_values', message);
  }
}

/** Members of objects and elements of lists within it; counted until there are more than `max`. */
function valuesIn(value: unknown, name: string, max: number): number {
  let count = 0;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0 && count <= max; depth += 1) {
    if (depth > BODY_DEPTH_MAX)
      throw invalidField(name, 'depth', `${name} is nested deeper than ${BODY_DEPTH_MAX} levels.`);
    const next: unknown[] = [];
    for (const one of level) {
      const inner = Array.isArray(one) ? one : isObject(one) ? Object.values(one) : [];
      count += inner.length;
      if (count > max) break;
      for (const each of inner) if (typeof each === 'object' && each !== null) next.push(each);
    }
    level = next;
  }
  return count;
}
