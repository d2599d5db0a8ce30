// Isolates user content from this origin. A route that answers outside the envelope may serve anybody's bytes: an object, an attachment, a
// picture. Such an answer gets a sandbox policy unless its route sets its own, as pages do (Content Security Policy Level 3, section 6.3.2).
// None of them loads as a script or style of our pages, whose policies allow those of this origin (Fetch Metadata Request Headers,
// section 2).
import type { IncomingHttpHeaders } from 'node:http';
import type { RawAnswer } from '../../kit/raw-route.ts';
import { problem } from '../../problems/problem.ts';
import { everywhere } from './headers.ts';

const SANDBOX = "sandbox; default-src 'none'";
/** In a sandbox browsers show none; their viewers run nothing of it with the rights of this origin. */
const PDF = /^application\/pdf\s*(?:;|$)/i;

/** What a browser runs in the page that asks for it, or lays over it. */
const RUN: ReadonlySet<string> = new Set(
  'script style worker sharedworker serviceworker audioworklet paintworklet xslt'.split(' '),
);

/** Of an answer without a policy of its own. */
export function closedHeaders({ headers }: Pick<RawAnswer, 'headers'>): Record<string, string> {
  if (PDF.test(String(headers['content-type'] ?? ''))) return everywhere;
  return { ...everywhere, 'content-security-policy': SANDBOX };
}

/** Throws INVALID_REQUEST: a page of this origin would run the answer as its own. */
export function refuseToRun(headers: IncomingHttpHeaders): void {
  const [site, dest] = [headers['sec-fetch-site'], headers['sec-fetch-dest']];
  if (site !== 'same-origin' || !RUN.has(String(dest))) return;
  throw problem('INVALID_REQUEST', {
    message: `A page of this service may not load this address as a ${dest}. Fetch it, or load it from a page of another origin.`,
    detail: 'runs_here',
  });
}
