// URL, credentials and headers of a request to a vendor of this wire.
import type { WireObject } from '../../../../lib/chat/body.ts';
import type { AiQuestion } from '../asking.ts';
import type { AiCall } from '../port.ts';

const VERSION = '2023-06-01';

/** The configured address may end in /v1, as that of the other wire does. `headers`: of the wire, in place of the usual ones. */
export function questionOf(
  { baseUrl, key }: AiCall,
  body: WireObject,
  headers: Readonly<Record<string, string>> = {},
): AiQuestion {
  const credentials: Record<string, string> = key === null ? {} : { 'x-api-key': key };
  return {
    url: `${baseUrl.replace(/\/v1$/, '')}/v1/messages`,
    credentials,
    headers: { 'anthropic-version': VERSION, ...headers },
    body,
  };
}
