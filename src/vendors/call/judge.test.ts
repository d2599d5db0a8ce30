// What the failing of a call means, row by row.
import { describe, expect, test } from 'vitest';
import type { OutboundFailure } from '../http/port.ts';
import { judge, type VendorError, type VendorReply } from './judge.ts';

const KEY = 'sk-secret-1234';

function failed(code: OutboundFailure, sent: boolean): VendorReply {
  return { kind: 'failed', code, sent, message: '' };
}

function answered(status: number, retryAfterMs: number | null = null): VendorReply {
  return { kind: 'answered', status, retryAfterMs, body: undefined };
}

function error(means: VendorError['means'] = null, said = 'words'): VendorError {
  return { said, means };
}

/** The verdict in short: reason or kind, then what the breaker does. */
function short(awaits: 'job' | 'answer', reply: VendorReply, said: VendorError | null = null): string {
  const verdict = judge(reply, said, { awaits, key: KEY });
  if (verdict.kind === 'not_sent') return 'not_sent';
  const { breaker } = verdict;
  const effect = 'ms' in breaker ? `${breaker.kind} ${breaker.ms}` : breaker.kind;
  return `${verdict.kind === 'refused' ? verdict.reason : 'unknown'}, ${effect}`;
}

const DOWN = 'VENDOR_DOWN, counts';
const LATE = 'VENDOR_TIMEOUT, counts';
const AUTH = 'VENDOR_AUTH_ERROR, opens 300000';
const UNKNOWN = 'unknown, counts';

describe('before anything was sent, another vendor may be asked', () => {
  test.each([
    ['dns', DOWN],
    ['connect', DOWN],
    ['tls', DOWN],
    ['reset', DOWN],
    ['refused', DOWN],
    ['protocol', DOWN],
    ['timeout', LATE],
    ['aborted', 'not_sent'],
  ] as const)('%s: %s', (code, verdict) => {
    expect([short('job', failed(code, false)), short('answer', failed(code, false))]).toEqual([verdict, verdict]);
  });
});

describe('after sending, only an answer that was awaited is just lost', () => {
  test.each([
    ['reset', failed('reset', true), UNKNOWN, DOWN],
    ['timeout', failed('timeout', true), UNKNOWN, LATE],
    ['an answer that is no HTTP', failed('protocol', true), UNKNOWN, DOWN],
    ['we stop', failed('aborted', true), 'unknown, none', 'VENDOR_DOWN, none'],
    ['500 of a proxy', answered(500), UNKNOWN, DOWN],
    ['502', answered(502), UNKNOWN, DOWN],
    ['503 of a proxy', answered(503), UNKNOWN, DOWN],
    ['504', answered(504), UNKNOWN, LATE],
    ['520', answered(520), UNKNOWN, DOWN],
    ['524', answered(524), UNKNOWN, LATE],
    ['529 of a proxy', answered(529), UNKNOWN, DOWN],
    ['an accepting answer that cannot be read', answered(200), UNKNOWN, DOWN],
  ])('%s', (_, reply, job, answer) => {
    expect([short('job', reply), short('answer', reply)]).toEqual([job, answer]);
  });

  test.each([502, 504, 522])('%i leaves it open whatever stands in its body', (status) => {
    for (const means of [null, 'down', 'invalid'] as const) {
      expect(short('job', answered(status), error(means))).toBe(UNKNOWN);
    }
  });
});

describe("the vendor's own answer is certain", () => {
  test.each([
    ['500', answered(500), error(), DOWN],
    ['503', answered(503), error('down'), DOWN],
    ['529', answered(529), error(), DOWN],
    ['429', answered(429), error(), 'RATE_LIMIT_VENDOR, waits 10000'],
    ['429 of a proxy', answered(429), null, 'RATE_LIMIT_VENDOR, waits 10000'],
    ['429 with Retry-After', answered(429, 3_000), error(), 'RATE_LIMIT_VENDOR, waits 3000'],
    ['429 for a year', answered(429, 31_536_000_000), error(), 'RATE_LIMIT_VENDOR, waits 3600000'],
    ['429, funds exhausted', answered(429), error('funds'), AUTH],
    ['400, too many at once', answered(400), error('busy'), 'RATE_LIMIT_VENDOR, waits 10000'],
    ['400, overloaded', answered(400), error('down'), DOWN],
    ['400, in arrears', answered(400), error('funds'), AUTH],
    ['401', answered(401), null, AUTH],
    ['402', answered(402), error(), AUTH],
    ['403', answered(403), error(), AUTH],
    ['403, content', answered(403), error('content'), 'CONTENT_REFUSED, none'],
    ['400, content', answered(400), error('content'), 'CONTENT_REFUSED, none'],
    ['500, content', answered(500), error('content'), 'CONTENT_REFUSED, none'],
    ['400', answered(400), error(), 'VALIDATION_FAILED, none'],
    ['422', answered(422), error(), 'VALIDATION_FAILED, none'],
    ['404, invalid', answered(404), error('invalid'), 'VALIDATION_FAILED, none'],
    ['404', answered(404), error(), 'VENDOR_ERROR, none'],
    ['400 of a proxy', answered(400), null, 'VENDOR_ERROR, none'],
    ['a redirect', answered(307), null, 'VENDOR_ERROR, none'],
    ['200 with an error in it', answered(200), error('invalid'), 'VALIDATION_FAILED, none'],
    ['200 with an unknown error in it', answered(200), error(), 'VENDOR_ERROR, none'],
  ])('%s', (_, reply, said, verdict) => {
    expect([short('job', reply, said), short('answer', reply, said)]).toEqual([verdict, verdict]);
  });
});

describe('what the caller is told', () => {
  const told = (status: number, said: VendorError | null) =>
    judge(answered(status), said, { awaits: 'job', key: KEY }) as { message: string; vendorSaid: string | null };

  test("the vendor's words where the caller can mend it, without the key, addresses and line breaks", () => {
    const said = `bad\nprompt ${KEY}, see https://vendor.example/x?y ${'z'.repeat(2000)}`;
    const { message } = told(400, error(null, said));
    expect(message).toMatch(/^The vendor refuses the request: bad prompt \[key\], see \[url\] z+$/);
    expect(message.length).toBeLessThan(600);
  });

  test("nothing of the operator's account", () => {
    const { message, vendorSaid } = told(402, error('funds', `org-7 has no balance, key ${KEY}`));
    expect(message).toBe("The vendor refuses the operator's account.");
    expect(vendorSaid).toBe('org-7 has no balance, key [key]');
  });
});
