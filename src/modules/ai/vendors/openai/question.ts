// URL and credentials of a request to a vendor of this wire.
import type { WireObject } from '../../../../lib/chat/body.ts';
import type { AiQuestion } from '../asking.ts';
import type { AiCall } from '../port.ts';

export function questionOf(call: AiCall, path: string, body: WireObject): AiQuestion {
  const credentials: Record<string, string> = call.key === null ? {} : { authorization: `Bearer ${call.key}` };
  return { url: `${call.baseUrl}${path}`, credentials, body };
}
