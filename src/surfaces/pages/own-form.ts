// Forms of the console are taken from the console's own pages only. Browsers say where a form comes from, and no page can make
// them say something else (Fetch Metadata; RFC 6454).
import type { IncomingHttpHeaders } from 'node:http';

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i;

/**
 * Whether a page of this origin sent the form. Sec-Fetch-Site decides where browsers send it (https, localhost), else Origin, which must
 * be the base URL's or the host the request went to: a service is also reached by names that the base URL does not know.
 */
export function isOwnForm(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  if (origin === undefined || !URL.canParse(origin)) return false;
  const sender = new URL(origin);
  return sender.origin === new URL(baseUrl).origin || sender.host === host?.toLowerCase();
}

/** The fields of a form; none when the body is something else. */
export function readForm(headers: IncomingHttpHeaders, body: Buffer): URLSearchParams {
  return new URLSearchParams(FORM_TYPE.test(headers['content-type'] ?? '') ? body.toString('utf8') : '');
}
