// Message page, for answers that have no page of their own.

import type { RawAnswer } from '../../kit/raw-route.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Problem } from '../../problems/problem.ts';
import { framePage } from './frame.ts';

/** For a form that another site sent in the visitor's name. */
export function foreignFormPage(): RawAnswer {
  const text = html`<p>A page of another site sent this form. Open the page here and send it again.</p>`;
  return message(403, 'This form was refused', text);
}

/** A sentence in place of a page. */
export function message(
  status: number,
  title: string,
  text: Html,
  more: { readonly signOut?: Html; readonly headers?: RawAnswer['headers'] } = {},
): RawAnswer {
  return framePage({ status, title, content: html`<h1>${title}</h1>\n${text}`, isNarrow: true, ...more });
}

/** Retry-After, where the failure says one. */
export function retryAfter(failure: Problem | null): RawAnswer['headers'] {
  if (failure?.retryAfterMs === undefined) return {};
  return { 'retry-after': String(Math.max(1, Math.ceil(failure.retryAfterMs / 1_000))) };
}
