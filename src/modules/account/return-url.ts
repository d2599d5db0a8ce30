// Return URL of a hosted payment page. It must be https; http is allowed on loopback when the service itself runs on loopback.

import { orNull } from '../../kit/fields.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { invalidField } from '../../problems/problem.ts';

export const returnUrlField = orNull<string>(
  { type: 'string', maxLength: 2_048 },
  'Where the person is sent afterwards, an https URL (http too for a service on loopback, when it is loopback itself); an id and ' +
    'status are added to its query. They tell, and prove nothing. Absent: a page of this service says how it went.',
);

/** Throws VALIDATION_FAILED. */
export function checkReturnUrl(sent: string | null, baseUrl: string): string | null {
  if (sent === null) return null;
  const url = URL.parse(sent);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.hash === '';
  const isLocal = url !== null && isLoopback(url.hostname) && isLoopback(new URL(baseUrl).hostname);
  if (isPlain && (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal))) return url.href;
  throw invalidField('return_url', 'format', 'return_url must be an https URL without user or fragment.');
}
