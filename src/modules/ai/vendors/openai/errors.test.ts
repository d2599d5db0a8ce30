import { expect, test } from 'vitest';
import { judge } from '../../../../vendors/call/judge.ts';
import { readOpenaiError } from './errors.ts';

const verdict = (status: number, body: object) => {
  const reply = { kind: 'answered', status, retryAfterMs: null, body } as const;
  return judge(reply, readOpenaiError(body, status), { awaits: 'answer', key: null });
};

test('403 of a gateway that says what was flagged refuses the content; any other refuses the operator', () => {
  const metadata = { reasons: ['violence'], flagged_input: 'the beginning …', provider_name: 'A', model_slug: 'm' };
  const flagged = { error: { code: 403, message: 'Your input was flagged.', metadata } };
  expect(verdict(403, flagged)).toMatchObject({ reason: 'CONTENT_REFUSED', breaker: { kind: 'none' } });
  const forbidden = { error: { code: 403, message: 'No access.' } };
  expect(verdict(403, forbidden)).toMatchObject({ reason: 'VENDOR_AUTH_ERROR', breaker: { kind: 'opens' } });
});
