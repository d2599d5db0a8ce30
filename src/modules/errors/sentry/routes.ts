// The endpoints that Sentry SDKs post to: with the DSN `https://KEY@host/v1/errors/sentry/1` an SDK finds them by itself. Each event is
// charged and stored as one of errors.capture.
import { randomUUID } from 'node:crypto';
import type { CallContext } from '../../../core/context.ts';
import type { IdempotencyKey } from '../../../core/idempotency/key.ts';
import { scopesWithin } from '../../../core/keys/scopes.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../manifest/raw-route.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { captureDraft } from '../capture.ts';
import type { JsonObject } from '../draft.ts';
import type { ErrorsState } from '../state.ts';
import { preflight, refusal, taken } from './answers.ts';
import { parseEnvelope, parseEvent, type SentEnvelope } from './envelope.ts';
import { draftOfEvent } from './event-draft.ts';
import { ENVELOPE_BYTES_MAX } from './numbers.ts';
import { keyOfDsn, keyOfHead } from './sent-key.ts';

const CAPABILITY = 'errors.capture';
const SCOPES = [CAPABILITY, 'errors.message'];
const PROJECT = /^\d{1,32}$/;
const EVENT_ID = /^[0-9a-f]{32}$/;

export const sentryRoutes: readonly RawRoute<ErrorsState>[] = [
  ...routesOf('envelope', parseEnvelope),
  ...routesOf('store', parseStored),
];

function routesOf(end: string, parse: (body: Buffer) => SentEnvelope): RawRoute<ErrorsState>[] {
  const path = `/v1/errors/sentry/api/{project}/${end}`;
  return [`${path}/`, path].map((each) => ({
    name: 'errors.sentry',
    methods: ['POST', 'OPTIONS'],
    path: each,
    capability: CAPABILITY,
    bodyBytesMax: ENVELOPE_BYTES_MAX,
    secretOf: (head) => (head.method === 'OPTIONS' ? null : keyOfHead(head)),
    answer: (request, state) =>
      request.method === 'OPTIONS' ? Promise.resolve(preflight) : take(request, state, parse),
    refuse: refusal,
  }));
}

/** A body that is the event itself. Old SDKs also send transactions so. */
function parseStored(body: Buffer): SentEnvelope {
  const event = parseEvent(body);
  return event.type === 'transaction' ? { header: { event_id: event.event_id }, event: null } : { header: {}, event };
}

async function take(
  request: RawRequest,
  state: ErrorsState,
  parse: (body: Buffer) => SentEnvelope,
): Promise<RawAnswer> {
  if (!PROJECT.test(request.params.project ?? '')) throw invalidField('project', 'pattern', 'project must be digits.');
  const key = keyOfHead(request);
  let ctx = key === null ? null : await admit(request, key);
  const body = await state.inflater.inflate(request.body, request.headers['content-encoding']);
  const { header, event } = parse(body);
  ctx ??= await admit(request, keyOfDsn(header.dsn));
  const id = idOf(header, event);
  if (event === null) return taken(id);
  const draft = draftOfEvent(event, Date.now());
  const { costNanos } = await captureDraft(ctx, state, draft, id === null ? null : eventKey(ctx, id));
  return taken(id ?? randomUUID().replaceAll('-', ''), costNanos);
}

/** The key of a DSN is no secret for long, least of all in a web page: one that can do more is refused. */
async function admit(request: RawRequest, key: string | null): Promise<CallContext> {
  const ctx = await request.admit(key);
  if (!scopesWithin(ctx.core.scopeBook, ctx.key.scopes, SCOPES)) throw problem('INSUFFICIENT_SCOPE');
  return ctx;
}

function idOf(header: JsonObject, event: JsonObject | null): string | null {
  const sent = header.event_id ?? event?.event_id ?? null;
  if (sent === null) return null;
  const id = typeof sent === 'string' ? sent.replaceAll('-', '').toLowerCase() : '';
  if (!EVENT_ID.test(id)) throw invalidField('event_id', 'pattern', 'event_id must be 32 hexadecimal digits.');
  return id;
}

/** An event that comes again is the same event, whatever else it says by then. */
function eventKey({ core }: CallContext, eventId: string): IdempotencyKey {
  const hash = core.secrets.idempotencyHash('errors.sentry', eventId);
  return { raw: eventId, hash, fingerprint: hash };
}
