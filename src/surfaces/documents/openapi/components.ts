// The parts of the OpenAPI document that every operation shares: envelope, metadata, error object, responses, headers.
import { entryForms } from '../../../core/callers/entry-form.ts';
import { idempotencyKeyField } from '../../../manifest/describe.ts';
import type { JsonSchema } from '../../../manifest/json-schema.ts';
import type { ProblemCatalogue } from '../../../problems/catalogue.ts';
import { deliveryHeaders } from './webhooks.ts';

/** Statuses that the specification declares for every operation, with the component that describes each. */
export const failureResponses: Readonly<Record<string, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  402: 'PaymentRequired',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalError',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
  504: 'GatewayTimeout',
  default: 'OtherFailure',
};

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: 'string', description, ...more });
const amount = (description: string): JsonSchema => ({ type: 'number', minimum: 0, description });
const whole = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description });

const failoverInfo: JsonSchema = {
  type: 'object',
  description: 'Present only when another vendor had to take over.',
  properties: {
    primary_vendor: text('Vendor that was tried first.'),
    actual_vendor: text('Vendor that answered.'),
    primary_model: text('Model that was tried first.'),
    actual_model: text('Model that answered.'),
    cost_at_primary: amount('What the call would have cost at the first vendor, USD.'),
    cost_at_actual: amount('What the call cost, USD.'),
    cost_multiplier: amount('cost_at_actual divided by cost_at_primary.'),
    failover_reason: {
      enum: ['VENDOR_TIMEOUT', 'VENDOR_DOWN', 'RATE_LIMIT_VENDOR', 'VENDOR_AUTH_ERROR'],
      description: 'Why the first vendor did not serve.',
    },
    fallback_chain_depth: { type: 'integer', minimum: 1, description: 'How many vendors were passed over.' },
  },
};

const metadata: JsonSchema = {
  type: 'object',
  description: 'How the call was served and what it cost. Fields may be added.',
  required: [
    'request_id',
    'trace_id',
    'timestamp',
    'latency_ms',
    'entry_form',
    'cost_usd',
    'cost_cny',
    'vendor',
    'vendor_region',
    'markup_pct',
    'cache_layer',
    'edge_pop',
    'worker_id',
    'idempotent_replay',
  ],
  properties: {
    request_id: text('Identifies this call; name it in a report to the operator.', {
      pattern: '^req_[A-Za-z0-9]{20,}$',
    }),
    trace_id: text('Trace of the call; taken from the traceparent header when one was sent.'),
    timestamp: text('When the answer was made.', { format: 'date-time' }),
    latency_ms: whole('Time inside the service, milliseconds.'),
    entry_form: {
      enum: entryForms,
      description: 'How the call came in. Values may be added.',
    },
    cost_usd: amount('What this call was charged, USD; 0 for free calls and replays.'),
    cost_cny: amount('The same in CNY.'),
    vendor: text('Who served the call; self for what runs in this service.'),
    vendor_region: { enum: ['china', 'western'], description: 'Where it was served.' },
    markup_pct: { type: 'number', enum: [0, 0.05], description: 'Share added to the price of an outside vendor.' },
    cache_layer: { enum: ['none', 'l1_hit', 'l1_miss', 'l2_hit', 'batch'], description: 'Cache that took part.' },
    edge_pop: text('Entry point of the network.'),
    worker_id: text('Process that answered.'),
    idempotent_replay: {
      type: 'boolean',
      description: 'True when an earlier result of the same key is returned; nothing was done or charged again.',
    },
    failover_info: failoverInfo,
    balance_usd: amount('Spendable balance after a billable call, for keys that may read the balance.'),
    usage_estimated: {
      type: 'boolean',
      description: 'Of calls of AI models: whether tokens were counted here, for the vendor has not told them.',
    },
    warnings: {
      type: 'array',
      items: { type: 'string' },
      description: 'What was accepted but not used.',
    },
  },
};

const fieldError: JsonSchema = {
  type: 'object',
  required: ['param', 'rule', 'message'],
  properties: {
    param: text('Field at fault.'),
    rule: text('Rule it breaks.'),
    message: text('What to mend.'),
    did_you_mean: text('Known name that is nearest to what was sent.'),
  },
};

const amountOrNull = (description: string): JsonSchema => ({ type: ['number', 'null'], description });

const shortfall: JsonSchema = {
  type: 'object',
  description: 'Of a 402: what the call needs, what there is, and what makes room.',
  required: ['needed_usd', 'left_usd', 'cap_usd', 'window_end', 'lifted_by'],
  properties: {
    needed_usd: { type: 'number', description: 'Price of the call.' },
    left_usd: amountOrNull('What the key’s cap, the budget or the wallet has left; null where the key may not see it.'),
    cap_usd: amountOrNull('The cap; null for the wallet, and where the key may not see it.'),
    window_end: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When spending counts from zero again; null: never.',
    },
    lifted_by: text('Id of the capability that makes room.'),
  },
};

const approval: JsonSchema = {
  type: 'object',
  description: 'Of APPROVAL_REQUIRED: what a person is asked. Wait at wait_url, then repeat the same call.',
  required: ['approval_id', 'status', 'url', 'expires_at', 'wait_url'],
  properties: {
    approval_id: text('Id of the approval.'),
    status: text('pending.'),
    url: text('Where a person decides.', { format: 'uri' }),
    expires_at: text('Until when it can be decided.', { format: 'date-time' }),
    wait_url: text('Answers once somebody has decided; with the same key.', { format: 'uri' }),
  },
};

function errorObject(baseUrl: string, problems: ProblemCatalogue): JsonSchema {
  return {
    type: 'object',
    description: 'Why the call failed and what to do.',
    required: ['code', 'http_status', 'message', 'docs_url', 'retryable', 'request_id'],
    properties: {
      code: text('Stable code to branch on. Codes may be added.', { examples: Object.keys(problems) }),
      http_status: { type: 'integer', minimum: 400, maximum: 599, description: 'Equals the status of the answer.' },
      message: text('Sentence for people; may change.'),
      docs_url: text('Page that explains the code.', {
        format: 'uri',
        examples: [`${baseUrl}/docs/errors/VALIDATION_FAILED`],
      }),
      log_url: text('Page of the console that shows the call; only for callers that may read the request log.', {
        format: 'uri',
      }),
      code_detail: text(
        'Finer reason, such as the violated rule, or whether wallet, budget or the key’s cap is spent.',
      ),
      retryable: { type: 'boolean', description: 'Whether the same call may succeed later.' },
      retry_after_ms: whole('Suggested delay before a retry, milliseconds; only beside retryable true.'),
      shortfall,
      approval,
      param: text('Field at fault: a name, or a path such as vectors[3].embedding[7].'),
      did_you_mean: text('Known name or value that is nearest to what was sent.'),
      errors: { type: 'array', maxItems: 20, items: fieldError, description: 'Every field at fault, up to 20.' },
      trace_id: text('Trace of the call.'),
      request_id: text('Identifies this call.'),
    },
  };
}

function failure(): JsonSchema {
  return {
    type: 'object',
    required: ['ok', 'error', 'metadata'],
    properties: {
      ok: { type: 'boolean', const: false },
      error: { $ref: '#/components/schemas/Error' },
      metadata: { $ref: '#/components/schemas/Metadata' },
    },
  };
}

function failureResponse(status: string, problems: ProblemCatalogue): object {
  const isNamed = (of: number) => (status === 'default' ? !(of in failureResponses) : String(of) === status);
  const named = Object.entries(problems).flatMap(([code, entry]) => (isNamed(entry.status) ? [code] : []));
  const mayRetry = status === '429' || status === '503';
  return {
    description: `${status === 'default' ? 'Any other failure' : `Failure with status ${status}`}. Codes: ${named.join(', ')}.`,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...(status === '401' ? { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } } : {}),
      ...(mayRetry ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } : {}),
    },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
  };
}

/** Shared components without the schemas that operations add. */
export function sharedComponents(baseUrl: string, problems: ProblemCatalogue) {
  return {
    schemas: { Metadata: metadata, Error: errorObject(baseUrl, problems), Failure: failure() } as Record<
      string,
      JsonSchema
    >,
    responses: Object.fromEntries(
      Object.entries(failureResponses).map(([status, name]) => [name, failureResponse(status, problems)]),
    ),
    parameters: {
      IdempotencyKeyHeader: {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description: idempotencyKeyField.description?.replace(
          'the header Idempotency-Key',
          'the field idempotency_key',
        ),
        schema: withoutDescription(idempotencyKeyField),
      },
      IdempotencyKeyQuery: {
        name: 'idempotency_key',
        in: 'query',
        required: false,
        description: idempotencyKeyField.description,
        schema: withoutDescription(idempotencyKeyField),
      },
      ...deliveryHeaders,
    },
    headers: {
      RequestId: { description: 'Equals metadata.request_id.', schema: { type: 'string' } },
      Challenge: { description: '`Bearer realm="quartermaster"`.', schema: { type: 'string' } },
      RetryAfter: { description: 'Seconds to wait before a retry.', schema: { type: 'integer', minimum: 0 } },
    },
    securitySchemes: {
      bearerAuth: {
        type: 'http',
        scheme: 'bearer',
        description:
          'An API key of the account: `Authorization: Bearer <API_KEY>`. One key works for all modules, within its scopes.',
      },
    },
  };
}

export function withoutDescription({ description: _moved, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
