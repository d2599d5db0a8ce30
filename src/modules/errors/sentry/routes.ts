// The endpoints that Sentry SDKs post to: with the DSN `https://KEY@host/v1/errors/sentry/1` an SDK finds them by itself. Each event is
// charged and stored as one of errors.capture.
import { randomUUID } from 'node:crypto';
import type { IdempotencyKey } from '../../../core/callers/idempotency-key.ts';
import { scopesWithin } from '../../../core/callers/scopes.ts';
import { secretCredential } from '../../../core/credentials/credential.ts';
import { pageRoute } from '../../../kit/page-access.ts';
import type { BodyTask, RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { CAPTURE } from '../capture/capture-types.ts';
import { captureReady } from '../intake/ready-to-store.ts';
import type { ErrorsState } from '../state.ts';
import { acceptedAnswer, access, refusal } from './answers.ts';
import { envelopeHeader } from './envelope.ts';
import { ENVELOPE_BYTES_MAX, STORE_BYTES_MAX } from './numbers.ts';
import { type ReadEvent, readEnvelope, readStored, storedEvent } from './read-body.ts';
import { keyOfDsn, keyOfHead } from './sent-key.ts';
import { EnvelopeSieve, sift } from './sieve.ts';

const SCOPES = [CAPTURE, 'errors.message'];
const PROJECT = /^\d{1,32}$/;

/** How a body is read. */
interface BodyForm {
  readonly bodyBytesMax: number;
  /** What of a body is looked at, without its encoding. `admit` gets the key that the body names, as soon as that is read. */
  open(body: AsyncIterable<Buffer>, admit: (key: string | null) => Promise<unknown>): Promise<Buffer>;
  readonly task: BodyTask<ReadEvent>;
}

const envelope: BodyForm = {
  bodyBytesMax: ENVELOPE_BYTES_MAX,
  open: (body, admit) => {
    const sieve = new EnvelopeSieve();
    let isAsked = false;
    return sift(body, sieve, async () => {
      if (isAsked || sieve.header === null) return;
      isAsked = true;
      await admit(keyOfDsn(envelopeHeader(sieve.header).dsn));
    });
  },
  task: readEnvelope,
};
const store: BodyForm = {
  bodyBytesMax: STORE_BYTES_MAX,
  open: async (body, admit) => {
    await admit(null);
    return storedEvent(body);
  },
  task: readStored,
};

export const sentryRoutes: readonly RawRoute<ErrorsState>[] = [
  ...routesOf('envelope', envelope),
  ...routesOf('store', store),
];

function routesOf(end: string, form: BodyForm): RawRoute<ErrorsState>[] {
  const path = `/v1/errors/sentry/api/{project}/${end}`;
  return [`${path}/`, path].map((each) =>
    pageRoute(access, {
      name: 'errors.sentry',
      methods: ['POST'],
      path: each,
      capability: CAPTURE,
      bodyBytesMax: form.bodyBytesMax,
      encodings: ['gzip', 'deflate', 'br', 'zstd'],
      inflatedBytesMax: ENVELOPE_BYTES_MAX,
      credentialOf: (head) => credentialOf(keyOfHead(head)),
      answer: (request, state) => take(request, state, form),
      refuse: refusal,
    }),
  );
}

async function take(request: RawRequest, state: ErrorsState, form: BodyForm): Promise<RawAnswer> {
  if (!PROJECT.test(request.params.project ?? '')) throw invalidField('project', 'pattern', 'project must be digits.');
  const known = request.ctx === null ? null : await requirePublicKey(request.ctx, state);
  const { ctx, read } = await request.inflate((body) => open(request, state, form, known, body));
  const { id, event } = read;
  if (event === null) return acceptedAnswer(id);
  const idempotency = id === null ? null : eventKey(ctx, id);
  const { costNanos } = await state.unpaid.watch(ctx, captureReady(ctx, state, event, idempotency));
  return acceptedAnswer(id ?? randomUUID().replaceAll('-', ''), costNanos);
}

/** What the body says. What it inflates to is held no longer than this takes. */
async function open(
  request: RawRequest,
  state: ErrorsState,
  form: BodyForm,
  known: CallContext | null,
  body: AsyncIterable<Buffer>,
) {
  let ctx = known;
  const opened = await form.open(body, async (key) => {
    ctx ??= await requirePublicKey(await request.admit(credentialOf(key)), state);
  });
  return { ctx: ctx as CallContext, read: await request.read(form.task, opened) };
}

/** The key of a DSN is no secret for long, least of all in a web page: one that can do more is refused. */
async function requirePublicKey(ctx: CallContext, state: ErrorsState): Promise<CallContext> {
  if (!scopesWithin(ctx.core.knownScopes, ctx.principal.scopes, SCOPES)) throw problem('INSUFFICIENT_SCOPE');
  await state.unpaid.check(ctx);
  return ctx;
}

const credentialOf = (key: string | null) => (key === null ? null : secretCredential(key));

/** An event that comes again is the same event, whatever else it says by then. */
function eventKey({ core }: CallContext, eventId: string): IdempotencyKey {
  const hash = core.secrets.idempotencyHash('errors.sentry', eventId);
  return { raw: eventId, hash, fingerprint: hash };
}
