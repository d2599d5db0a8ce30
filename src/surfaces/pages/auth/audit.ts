// Changes of an account's people in its audit log: they are made on pages, by no capability, and stand there like calls.
import type { RawRequest } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { randomHex } from '../../../lib/random-hex.ts';
import type { ActingOwner } from '../../../people/acting-owner.ts';

const TRACE_BYTES = 16;

/** `capability`: what the change is called in the log, such as account.people.invite. */
export function logPeopleChange(
  { requests }: Pick<Services, 'requests'>,
  { requestId, url }: Pick<RawRequest, 'requestId' | 'url'>,
  { principal, accountId }: ActingOwner,
  capability: string,
  input: Readonly<Record<string, string>>,
): void {
  requests.add({
    accountId,
    requestId,
    traceId: randomHex(TRACE_BYTES),
    callerId: principal.id,
    capability,
    entryForm: 'console',
    status: 200,
    latencyMs: 0,
    method: 'POST',
    path: url.split('?', 1)[0] ?? '',
    code: null,
    message: null,
    param: null,
    costNanos: 0n,
    bytesIn: null,
    bytesOut: null,
    replay: false,
    vendor: null,
    input: JSON.stringify(input),
    secretFields: [],
    address: null,
    endedMs: performance.now(),
    isAudit: true,
    seq: null,
  });
}
