// Accepts forms only from the console's own pages. Browsers state where a form comes from, and no page can make them state something else
// (Fetch Metadata; RFC 6454).
import type { IncomingHttpHeaders } from 'node:http';
import { admission } from '../../core/admission.ts';
import { problem } from '../../problems/problem.ts';

const AMPERSAND = 38;
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

/** The fields of a form; none when the body is something else. Throws PAYLOAD_TOO_LARGE, before it is decoded. */
export function readForm(headers: IncomingHttpHeaders, body: Buffer): URLSearchParams {
  if (!FORM_TYPE.test(headers['content-type'] ?? '')) return new URLSearchParams();
  const { formFieldsMax } = admission.call;
  let fields = 1;
  for (const byte of body) if (byte === AMPERSAND) fields += 1;
  if (fields > formFieldsMax)
    throw problem('PAYLOAD_TOO_LARGE', { message: `A form may have at most ${formFieldsMax} fields.` });
  return new URLSearchParams(body.toString('utf8'));
}

/** The first name that stands there twice; null: none does. */
export function repeatedField(fields: URLSearchParams): string | null {
  const seen = new Set<string>();
  return fields.keys().find((name) => seen.size === seen.add(name).size) ?? null;
}
