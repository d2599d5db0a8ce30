// Error bodies of the chat-completions wire, as OpenAI, gateways and local servers write them.
import type { WireObject } from '../../../../lib/chat/body.ts';
import { fieldsOf, firstTextAt } from '../../../../vendors/call/answer.ts';
import type { VendorError } from '../../../../vendors/call/judge.ts';

const meanings: readonly (readonly [RegExp, VendorError['means']])[] = [
  [/content_filter|content_policy|moderation|sensitive|safety/, 'content'],
  [/insufficient_quota|insufficient_balance|billing|payment_required|arrearage/, 'funds'],
  [/invalid_api_key|authentication|unauthorized|permission|account_deactivated/, 'auth'],
  [/rate_limit|too_many_requests|throttl/, 'busy'],
  [/server_error|overloaded|unavailable|engine_|internal/, 'down'],
  [/context_length|invalid_|unsupported_|string_above|missing_required/, 'invalid'],
];

export function readOpenaiError(body: unknown, status: number): VendorError | null {
  const said = firstTextAt(body, ['error.message', 'error', 'message', 'detail', 'detail.0.msg'], 4_096);
  const inner = fieldsOf(fieldsOf(body)?.error);
  if (said === null && inner === null) return null;
  const codes = [inner?.code, inner?.type, inner?.status].filter((one) => typeof one === 'string').join(' ');
  if (isFlagged(status, inner)) return { said: said ?? '', means: 'content' };
  // A model that the vendor does not have is the operator's affair.
  const means = status === 404 ? null : (meanings.find(([pattern]) => pattern.test(codes.toLowerCase()))?.[1] ?? null);
  return { said: said ?? '', means };
}

/** OpenRouter answers 403 for moderation, and then says in `metadata` what was flagged (its documentation, "Moderation Errors"). */
function isFlagged(status: number, error: WireObject | null): boolean {
  const metadata = fieldsOf(error?.metadata);
  return status === 403 && (Array.isArray(metadata?.reasons) || typeof metadata?.flagged_input === 'string');
}
