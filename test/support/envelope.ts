// What every answer under /v1 must look like (contract §1), whatever it answers.
import { expect } from 'vitest';
import { manifest } from './capabilities.ts';
import type { Reply } from './service.ts';

const { problems } = manifest;

const REQUEST_ID = /^req_[0-9A-Za-z]{20,}$/;
const TRACE_ID = /^[0-9a-f]{32}$/;
const TRACEPARENT = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

type Field = (value: unknown) => boolean;

const matches = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value);
const is = (expected: unknown) => (value: unknown) => value === expected;
const isAmount = (value: unknown) => typeof value === 'number' && value >= 0;
const isFlag = (value: unknown) => typeof value === 'boolean';
const isText = matches(/./);
const isWhole = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const areTexts = (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');

const metadata: Readonly<Record<string, Field>> = {
  request_id: matches(REQUEST_ID),
  trace_id: matches(TRACE_ID),
  timestamp: matches(INSTANT),
  latency_ms: isWhole,
  entry_form: is('rest'),
  cost_usd: isAmount,
  cost_cny: isAmount,
  // Who was asked is told of calls of models.
  vendor: matches(/^(self|sandbox)$/),
  vendor_region: is('western'),
  markup_pct: is(0),
  cache_layer: is('none'),
  edge_pop: isText,
  worker_id: isText,
  idempotent_replay: isFlag,
};
const metadataAtTimes: Readonly<Record<string, Field>> = {
  balance_usd: isAmount,
  // Of calls of language models.
  usage_estimated: isFlag,
  warnings: areTexts,
};

const isAnything = () => true;
const errorAtTimes: Readonly<Record<string, Field>> = {
  code_detail: isAnything,
  retry_after_ms: isAnything,
  shortfall: isAnything,
  param: (value) => value !== '',
  errors: isAnything,
  did_you_mean: isText,
};

/** Fields that are missing, unknown or wrong. Thousands of answers are looked at, and one `expect` takes as long as this. */
function faultsOf(object: object, always: Record<string, Field>, atTimes: Record<string, Field> = {}): unknown[] {
  const fields = { ...atTimes, ...always };
  return [
    ...Object.keys(always).filter((name) => !(name in object)),
    ...Object.entries(object).filter(([name, value]) => !Object.hasOwn(fields, name) || fields[name]?.(value) !== true),
  ];
}

/** What is wrong with what every answer has. */
function commonFaults({ headers, body }: Reply): unknown[] {
  const { metadata: told } = body;
  const own = {
    'content-type': headers.get('content-type') === 'application/json; charset=utf-8',
    'cost in both currencies': (told.cost_cny === 0) === (told.cost_usd === 0),
    'x-request-id': headers.get('x-request-id') === told.request_id,
    traceparent: TRACEPARENT.exec(headers.get('traceparent') ?? '')?.[1] === told.trace_id,
    'access-control-': ![...headers.keys()].some((name) => name.startsWith('access-control-')),
  };
  return [...faultsOf(told, metadata, metadataAtTimes), ...Object.entries(own).filter(([, isRight]) => !isRight)];
}

/** A complete success envelope. */
export function expectSuccess(reply: Reply): void {
  expect(reply.status, reply.text).toBe(200);
  expect(Object.keys(reply.body)).toEqual(['ok', 'data', 'metadata']);
  expect(reply.body.ok).toBe(true);
  expect(commonFaults(reply), reply.text).toEqual([]);
}

/** A complete failure envelope with a catalogued code, which costs nothing. */
export function expectFailure(reply: Reply, baseUrl: string): void {
  expect(Object.keys(reply.body ?? {}).join(), reply.text).toBe('ok,error,metadata');
  const { ok, error, metadata: told } = reply.body;
  const entry = problems[error.code] as NonNullable<(typeof problems)[string]>;
  expect(entry, error.code).toBeDefined();
  const retryAfter = Number(reply.headers.get('retry-after'));
  const own = {
    ok: ok === false,
    status: entry.status === reply.status,
    'retry-after': (reply.status !== 429 && reply.status !== 503) || retryAfter > 0,
    'metadata of a failure': told.cost_usd === 0 && told.cost_cny === 0 && told.idempotent_replay === false,
    shortfall: reply.status !== 402 || typeof error.shortfall?.needed_usd === 'number',
    retry_after_ms: !('retry_after_ms' in error) || error.retryable === true,
  };
  const always = {
    code: isText,
    http_status: is(reply.status),
    message: isText,
    docs_url: is(`${baseUrl}/docs/errors/${error.code}`),
    retryable: is(entry.retryable),
    request_id: is(told.request_id),
    trace_id: is(told.trace_id),
  };
  const logUrl = is(`${baseUrl}/console/requests/${told.request_id}`);
  const faults = [
    ...faultsOf(error, always, { ...errorAtTimes, log_url: logUrl }),
    ...Object.entries(own).filter(([, isRight]) => !isRight),
    ...commonFaults(reply),
  ];
  expect(faults, reply.text).toEqual([]);
}
