// The writes of a form: one call, or several in their order, each once for the form's idempotency key.
import type { Act } from '../../kit/console/page.ts';
import type { Input, Read } from '../../kit/console/visit.ts';
import { invalidField, Problem } from '../../problems/problem.ts';
import type { PageVisit } from './visit.ts';

/** What the last call answered, or the first that failed: those before it are done. */
export async function performAct(
  visit: PageVisit,
  act: Act,
  form: URLSearchParams,
  key: string,
): Promise<Read<unknown>> {
  try {
    const input = await act.input(form, visit);
    if (!isSeveral(input)) return await visit.write(act.capability, input, key);
    const [first, ...others] = input;
    if (first === undefined) throw invalidField('id', 'required', 'Select at least one row.');
    let read = await visit.write(act.capability, first, `${key}:0`);
    for (const [i, one] of others.entries()) {
      if (read.problem !== null) break;
      read = await visit.write(act.capability, one, `${key}:${i + 1}`);
    }
    return read;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { data: null, text: null, problem: error, requestId: visit.requestId };
  }
}

function isSeveral(input: Awaited<ReturnType<Act['input']>>): input is readonly Input[] {
  return Array.isArray(input);
}
