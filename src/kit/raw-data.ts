// Extracts the data of calls made by raw routes.
import { JsonText } from '../lib/json-text.ts';
import type { Problem } from '../problems/problem.ts';
import type { RawOutcome } from './raw-route.ts';

/** `data` of the call. Throws the Problem that it failed with. */
export async function dataOf<Data>(outcome: Promise<RawOutcome>): Promise<Data> {
  const { answer, problem } = await outcome;
  if (answer === null) throw problem as Problem;
  const { data } = answer;
  return (data instanceof JsonText ? JSON.parse(data.text) : data) as Data;
}
