import { expect, test } from 'vitest';
import { answerText } from './answer.ts';

test.each([
  [{ http_status: null, error_code: 'connect', latency_ms: 2 }, 'Connection refused (2 ms)'],
  [{ http_status: 500, error_code: null, latency_ms: 1_200 }, 'HTTP 500 (1,200 ms)'],
  [{ http_status: null, error_code: 'insufficient_credit', latency_ms: null }, 'Skipped: insufficient credit'],
  [{ http_status: null, error_code: 'a_new_one', latency_ms: 3 }, 'a_new_one (3 ms)'],
  [{ http_status: null, error_code: null, latency_ms: null }, null],
])('%j', (answer, text) => {
  expect(answerText(answer)).toBe(text);
});
