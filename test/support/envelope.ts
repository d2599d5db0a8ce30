// What every answer under /v1 must look like (contract §1), whatever it answers.
import { expect } from 'vitest';
import { modules } from '../../src/modules/index.ts';
import { composeManifest } from '../../src/surfaces/documents/discovery.ts';
import type { Reply } from './service.ts';

const { problems } = composeManifest(modules);

const REQUEST_ID = /^req_[0-9A-Za-z]{20,}$/;
const TRACE_ID = /^[0-9a-f]{32}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const metadata = {
  request_id: expect.stringMatching(REQUEST_ID),
  trace_id: expect.stringMatching(TRACE_ID),
  timestamp: expect.stringMatching(INSTANT),
  latency_ms: expect.any(Number),
  entry_form: 'rest',
  cost_usd: expect.any(Number),
  cost_cny: expect.any(Number),
  // Who was asked is told of calls of models.
  vendor: expect.stringMatching(/^(self|sandbox)$/),
  vendor_region: 'western',
  markup_pct: 0,
  cache_layer: 'none',
  edge_pop: expect.stringMatching(/./),
  worker_id: expect.stringMatching(/./),
  idempotent_replay: expect.any(Boolean),
};

function expectCommon(reply: Reply): void {
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const { balance_usd: balance, warnings, usage_estimated: estimated, ...rest } = reply.body.metadata;
  expect(rest).toEqual(metadata);
  expect(Number.isSafeInteger(rest.latency_ms) && rest.latency_ms >= 0).toBe(true);
  expect(rest.cost_usd).toBeGreaterThanOrEqual(0);
  expect(rest.cost_cny === 0).toBe(rest.cost_usd === 0);
  if (balance !== undefined) expect(balance).toBeGreaterThanOrEqual(0);
  // Of calls of language models.
  if (estimated !== undefined) expect(estimated).toEqual(expect.any(Boolean));
  if (warnings !== undefined) expect(warnings).toEqual(expect.arrayContaining([expect.any(String)]));
  expect(reply.headers.get('x-request-id')).toBe(rest.request_id);
  expect(reply.headers.get('traceparent')).toMatch(new RegExp(`^00-${rest.trace_id}-[0-9a-f]{16}-[0-9a-f]{2}$`));
  expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
}

/** A complete success envelope. */
export function expectSuccess(reply: Reply): void {
  expect(reply.status, reply.text).toBe(200);
  expect(Object.keys(reply.body)).toEqual(['ok', 'data', 'metadata']);
  expect(reply.body.ok).toBe(true);
  expectCommon(reply);
}

/** A complete failure envelope with a catalogued code, which costs nothing. */
export function expectFailure(reply: Reply, baseUrl: string): void {
  expect(Object.keys(reply.body ?? {}), reply.text).toEqual(['ok', 'error', 'metadata']);
  expect(reply.body.ok).toBe(false);
  const { error } = reply.body;
  const entry = problems[error.code] as NonNullable<(typeof problems)[string]>;
  expect(entry, error.code).toBeDefined();
  expect(error).toMatchObject({
    http_status: reply.status,
    message: expect.stringMatching(/./),
    docs_url: `${baseUrl}/docs/errors/${error.code}`,
    retryable: entry.retryable,
    request_id: reply.body.metadata.request_id,
    trace_id: reply.body.metadata.trace_id,
  });
  expect(entry.status).toBe(reply.status);
  const known = [
    'code',
    'http_status',
    'message',
    'docs_url',
    'code_detail',
    'retryable',
    'retry_after_ms',
    'shortfall',
    'param',
    'errors',
    'trace_id',
    'request_id',
  ];
  expect(Object.keys(error).filter((name) => !known.includes(name))).toEqual([]);
  expect(error.param).not.toBe('');
  if ('retry_after_ms' in error) expect(error.retryable).toBe(true);
  if (reply.status === 402) expect(error.shortfall).toMatchObject({ needed_usd: expect.any(Number) });
  if (reply.status === 429 || reply.status === 503) expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(reply.body.metadata).toMatchObject({ cost_usd: 0, cost_cny: 0, idempotent_replay: false });
  expectCommon(reply);
}
