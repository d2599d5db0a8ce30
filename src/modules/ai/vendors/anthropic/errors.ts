// Error bodies of the Messages API: {"type": "error", "error": {"type", "message"}}.
import { fieldsOf, textAt } from '../../../../vendors/call/answer.ts';
import type { VendorError } from '../../../../vendors/call/judge.ts';

const meanings: Readonly<Record<string, VendorError['means']>> = {
  authentication_error: 'auth',
  permission_error: 'auth',
  billing_error: 'funds',
  rate_limit_error: 'busy',
  overloaded_error: 'down',
  api_error: 'down',
  timeout_error: 'down',
  invalid_request_error: 'invalid',
  request_too_large: 'invalid',
};

export function readAnthropicError(body: unknown): VendorError | null {
  const type = textAt(body, 'error.type');
  if (fieldsOf(body) === null || type === null) return null;
  return { said: textAt(body, 'error.message', 4_096) ?? '', means: meanings[type] ?? null };
}
