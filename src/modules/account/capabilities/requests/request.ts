// Schema and record of a request-log entry, and the filters of the log's lists.
import Type, { type Static } from 'typebox';
import { entryForms } from '../../../../core/callers/entry-form.ts';
import { clockNow } from '../../../../core/database-clock.ts';
import {
  AUDIT_DAYS,
  type LogTable,
  REQUEST_DAYS,
  type RequestFilter,
  type StoredRequest,
} from '../../../../core/requests/store.ts';
import { checkOrder, instantField } from '../../../../core/usage/period.ts';
import { instant, textOrNull, wholeOrNull } from '../../../../kit/fields.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { usd } from '../../../../lib/money.ts';
import { sequenceMs } from '../../../../lib/sequence.ts';
import { DAY_MS, iso } from '../../../../lib/time.ts';
import { boundField, capabilityFilter, keyFilter, usdField } from '../../list-fields.ts';

export const requestSchema = Type.Object(
  {
    request_id: Type.String({ description: 'The X-Request-Id of its answer, `req_…`.' }),
    trace_id: Type.String({ description: 'Calls of one trace share it.' }),
    at: instant('When it ended.'),
    capability: Type.String({ description: 'What was called, such as queue.publish.' }),
    method: Type.String({ description: 'HTTP method of the request.' }),
    path: Type.String({ description: 'Path of the request, without its query.' }),
    entry_form: Type.String({ enum: [...entryForms], description: 'How the call came in.' }),
    key_id: textOrNull('API key that called; null: a person in the console.'),
    person_id: textOrNull('Person, or session of the operator, that called; null: an API key.'),
    status: Type.Integer({ description: 'HTTP status of the answer.' }),
    code: textOrNull('Error code; null for a success.'),
    message: textOrNull('Error message; null for a success.'),
    param: textOrNull('Field at fault; null: none.'),
    latency_ms: Type.Integer({ description: 'Time from its arrival to its answer, milliseconds.' }),
    cost_usd: usdField('What it cost.'),
    bytes_in: wholeOrNull('Bytes of the input; null: not counted.'),
    bytes_out: wholeOrNull('Bytes of the answer; null: it was streamed, or is not counted.'),
    replay: Type.Boolean({ description: 'Whether an earlier answer was returned for its idempotency key.' }),
    vendor: textOrNull('Vendor that did the work; null: this service.'),
    input: textOrNull('Input of a failed call or of a management write, without secrets, at most 4 KiB; else null.'),
    address: textOrNull('Network of the caller; null: not known.'),
  },
  { title: 'Request' },
);

export const filterFields = {
  outcome: Type.Optional(
    Type.String({
      enum: ['failed', 'slow', 'all'],
      description:
        '`failed`: status 400 and above. `slow`: 1 s and longer. `failed` when not sent, and `all` in the audit log.',
    }),
  ),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599, description: 'Only this HTTP status.' })),
  code: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Only this error code.' })),
  capability: Type.Optional(capabilityFilter),
  key_id: Type.Optional(keyFilter),
  entry_form: Type.Optional(Type.String({ enum: [...entryForms], description: 'Only calls that came in this way.' })),
  trace_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Only calls of this trace.' })),
};

export const periodFields = {
  from: Type.Optional(boundField('Only calls from then on.')),
  to: Type.Optional(boundField('Only calls before then.')),
};

const filterSchema = Type.Object({ ...filterFields, ...periodFields });

/** What a list or a stream of the log asks for. Throws VALIDATION_FAILED, INVALID_REQUEST. */
export function filterOf(input: Static<typeof filterSchema>, isAudit = false): RequestFilter {
  const filter = {
    fromMs: instantField('from', input.from),
    toMs: instantField('to', input.to),
    outcome: (input.outcome ?? (isAudit ? 'all' : 'failed')) as RequestFilter['outcome'],
    status: input.status ?? null,
    code: input.code ?? null,
    capability: input.capability ?? null,
    callerId: input.key_id ?? null,
    entryForm: input.entry_form ?? null,
    traceId: input.trace_id ?? null,
  };
  checkOrder(filter.fromMs, filter.toMs);
  return filter;
}

/** The filter from the first day on that is kept: a partition goes some hours later. */
export async function keptOf({ core }: CallContext, filter: RequestFilter, table: LogTable): Promise<RequestFilter> {
  const days = table === 'core.audit_log' ? AUDIT_DAYS : REQUEST_DAYS;
  const firstMs = (await clockNow(core.db)) - days * DAY_MS;
  return { ...filter, fromMs: Math.max(filter.fromMs ?? 0, firstMs) };
}

export function requestRecord(row: StoredRequest): Static<typeof requestSchema> {
  const { seq, caller_id: callerId, cost_nanos: costNanos, bytes_in: bytesIn, bytes_out: bytesOut, ...rest } = row;
  const isKey = callerId.startsWith('key_');
  return {
    request_id: rest.request_id,
    trace_id: rest.trace_id,
    at: iso(sequenceMs(seq)),
    capability: rest.capability,
    method: rest.method,
    path: rest.path,
    entry_form: rest.entry_form,
    key_id: isKey ? callerId : null,
    person_id: isKey ? null : callerId,
    status: rest.status,
    code: rest.code,
    message: rest.message,
    param: rest.param,
    latency_ms: rest.latency_ms,
    cost_usd: usd(costNanos),
    bytes_in: numberOrNull(bytesIn),
    bytes_out: numberOrNull(bytesOut),
    replay: rest.replay,
    vendor: rest.vendor,
    input: rest.input,
    address: rest.address,
  };
}

function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}
