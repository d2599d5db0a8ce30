// What the requests of Resend's wire have in common: they call capabilities, and answer what those answered.
import type { RawOutcome, RawRequest } from '../../../kit/raw-route.ts';
import { JsonText } from '../../../lib/json-text.ts';
import type { Problem } from '../../../problems/problem.ts';

/** `data` of the call. Throws the Problem that it failed with. */
export async function dataOf<Data>(outcome: Promise<RawOutcome>): Promise<Data> {
  const { answer, problem } = await outcome;
  if (answer === null) throw problem as Problem;
  const { data } = answer;
  return (data instanceof JsonText ? JSON.parse(data.text) : data) as Data;
}

export function keyOf({ headers }: RawRequest): { readonly idempotencyKey?: string } {
  const sent = headers['idempotency-key'];
  return typeof sent === 'string' ? { idempotencyKey: sent } : {};
}
