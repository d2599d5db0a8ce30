// Lines of current failures, which modules give to the overview page. Lines that the visitor may not see are left out; if only part was
// read, because there is too much, a line says so.
import { type Html, html } from '../../lib/html.ts';
import { failure } from './failure.ts';
import type { Failures, Read, Visit } from './visit.ts';

/** Lines of each kind. */
export const FAILING_EACH_MAX = 5;

export const nothingFails: Failures = { rows: [], count: 0, limits: [] };

/** `kind`: what it is, in a word or two. `warning`: it works, and soon does not. */
export function failingLine(kind: string, content: Html, level: 'critical' | 'warning' = 'critical'): Html {
  return html`<li><span class="badge ${level}">${kind}</span> ${content}</li>`;
}

/** The first few, and how many there are beyond. */
export function firstLines(rows: readonly Html[], beyond: (count: number) => Html): readonly Html[] {
  const rest = rows.length - FAILING_EACH_MAX;
  return rest > 0 ? [...rows.slice(0, FAILING_EACH_MAX), html`<li>and ${beyond(rest)}</li>`] : rows;
}

/** `text`, where the list goes on behind what was looked at. */
export function limitOf(page: { readonly next_cursor?: string | null } | null, text: string): readonly string[] {
  return typeof page?.next_cursor === 'string' ? [text] : [];
}

/** What the answer says, or the failure of the call. */
export function failuresIn<Data>(visit: Visit, read: Read<Data>, of: (data: Data) => Failures): Failures {
  if (read.problem === null) return of(read.data);
  return { rows: [html`<li>${failure(visit, read.problem, read.requestId)}</li>`], count: 0, limits: [] };
}
