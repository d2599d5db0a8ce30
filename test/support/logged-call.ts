// A failed call as the gateway tells it to the request log.
import type { LoggedCall } from '../../src/core/requests/entry.ts';

export function loggedCall(accountId: string, name: string, isAudit = false): LoggedCall {
  return {
    accountId,
    requestId: `req_${name}`,
    traceId: '',
    capability: 'queue.get',
    method: 'GET',
    path: '/',
    entryForm: 'rest',
    callerId: 'key_1',
    status: 404,
    code: 'NOT_FOUND',
    message: null,
    param: null,
    latencyMs: 1,
    costNanos: 0n,
    bytesIn: null,
    bytesOut: null,
    replay: false,
    vendor: null,
    input: null,
    address: null,
    endedMs: performance.now(),
    isAudit,
    secretFields: [],
    seq: null,
  };
}
