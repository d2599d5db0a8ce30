// When to try again is told only beside `retryable: true`, by every form that an answer can take, for every code.
import { expect, test } from 'vitest';
import { Envelope } from '../../src/gateway/envelope.ts';
import type { RawHead } from '../../src/kit/raw-route.ts';
import { refusal } from '../../src/modules/errors/sentry/answers.ts';
import { modules } from '../../src/modules/index.ts';
import { Problem } from '../../src/problems/problem.ts';
import { composeManifest } from '../../src/surfaces/documents/discovery.ts';
import { retryAfter } from '../../src/surfaces/pages/message.ts';

const manifest = composeManifest(modules);
const envelope = new Envelope({ baseUrl: 'https://qm.example', region: 'western', workerId: 'w', cnyPerUsd: 7 });
const identity = { requestId: 'req_1', traceId: 't', startedMs: 0, entryForm: 'rest', warnings: [] };

test.each(Object.entries(manifest.problems))('%s', (code, entry) => {
  const failure = new Problem(code, entry, { retryAfterMs: 5_000 });
  const { retryable } = entry;
  const wait = retryable ? 5_000 : undefined;
  expect(JSON.parse(envelope.failure(identity, failure)).error).toMatchObject({ retryable });
  expect(JSON.parse(envelope.failure(identity, failure)).error.retry_after_ms).toBe(wait);
  expect(JSON.parse(envelope.problemJson(identity, failure)).retry_after_ms).toBe(wait);
  // Of pages.
  expect(retryAfter(failure)['retry-after']).toBe(retryable ? '5' : undefined);
  // SDKs know no 402: they are told to hold back, as of a 429.
  const sdk = refusal(failure, { requestId: 'req_1' } as RawHead);
  expect(sdk.body).not.toContain('retry_after_ms');
  if (!retryable && failure.httpStatus !== 402) expect(sdk.headers['retry-after']).toBeUndefined();
});

test.each(Object.entries(manifest.problems).filter(([, { status }]) => status === 429 || status === 503))(
  '%s says when to repeat the call, also where whoever threw it does not know',
  (code, entry) => {
    const failure = new Problem(code, entry);
    const { retry_after_ms: wait } = JSON.parse(envelope.failure(identity, failure)).error;
    expect([entry.retryable, wait]).toEqual(entry.retryable ? [true, expect.any(Number)] : [false, undefined]);
    expect(Number(retryAfter(failure)['retry-after'] ?? 0) > 0).toBe(entry.retryable);
  },
);
