// PostHog's endpoints for its clients, which need only the host `{base_url}/v1/analytics/posthog`. Browsers send to `e`, `i/v0/e` and `capture`,
// with a key that can do nothing else; programs send to `batch`.

import { secretCredential } from '../../../core/credentials/credential.ts';
import { pageRoute, requirePageKey } from '../../../kit/page-access.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { problem } from '../../../problems/problem.ts';
import { captureEvents } from '../capture/capture.ts';
import { BODY_BYTES_MAX, CAPTURE } from '../limits.ts';
import type { AnalyticsState } from '../state.ts';
import { access, browserConfig, configScript, json, noFlags, refusal } from './answers.ts';
import { openBody } from './open-body.ts';
import { readPosthog, withEnvelope } from './read-body.ts';

const ROOT = '/v1/analytics/posthog';
/** As sent: posthog-python sends up to 5 MiB of events as they are. */
const SENT_BYTES_MAX = 6 * 1024 * 1024;
const NOTHING_BYTES_MAX = 64 * 1024;
const HEAD_BYTES_MAX = 1_024;
const REPLAY_BYTES_MAX = 4 * 1024 * 1024;
const KEY = /^\w{1,200}$/;

type Route = RawRoute<AnalyticsState>;

const pageRoutes: readonly Route[] = [
  ...['e', 'i/v0/e', 'capture'].flatMap((end) => both(end, captureRoute(true))),
  ...['flags', 'decide'].flatMap((end) =>
    both(
      end,
      silentRoute(['GET', 'POST'], () => json(noFlags), NOTHING_BYTES_MAX),
    ),
  ),
  ...both(
    's',
    silentRoute(['POST'], () => json({ status: 1 }), REPLAY_BYTES_MAX),
  ),
  ...both(
    'array/{key}/config',
    silentRoute(['GET'], () => json(browserConfig), HEAD_BYTES_MAX),
  ),
  { ...silentRoute(['GET'], scriptOf, HEAD_BYTES_MAX), path: `${ROOT}/array/{key}/config.js` },
];

export const posthogRoutes: readonly Route[] = [
  ...both('batch', captureRoute(false)),
  ...pageRoutes.map((route) => pageRoute(access, route)),
];

/** With a slash at the end and without. */
function both(end: string, route: Omit<Route, 'path'>): Route[] {
  return [`${ROOT}/${end}`, `${ROOT}/${end}/`].map((path) => ({ ...route, path }));
}

function captureRoute(isBrowser: boolean): Omit<Route, 'path'> {
  return {
    name: 'analytics.posthog',
    methods: ['POST'],
    capability: CAPTURE,
    bodyBytesMax: SENT_BYTES_MAX,
    encodings: 'kept',
    inflatedBytesMax: BODY_BYTES_MAX,
    credentialOf: (head) => credentialOf(keyOfHead(head)),
    answer: (request, state) => take(request, state, isBrowser),
    refuse: refusal(isBrowser),
  };
}

/** What is not kept, and asks for nothing. */
function silentRoute(
  methods: readonly ('GET' | 'POST')[],
  answer: (head: RawHead) => RawAnswer,
  bodyBytesMax: number,
): Omit<Route, 'path'> {
  return {
    name: 'analytics.posthog',
    methods,
    capability: null,
    bodyBytesMax,
    encodings: 'kept',
    answer: async (request) => answer(request),
    refuse: refusal(true),
  };
}

function scriptOf({ params }: RawHead): RawAnswer {
  const key = params.key ?? '';
  if (!KEY.test(key))
    throw problem('INVALID_REQUEST', { message: 'The key of a project consists of word characters.' });
  return configScript(key);
}

async function take(request: RawRequest, state: AnalyticsState, isBrowser: boolean): Promise<RawAnswer> {
  let ctx = request.ctx === null ? null : await requireKey(request.ctx, state, isBrowser);
  const ready = await request.inflate(async (blocks) => {
    const body = await openBody({ blocks, bytes: request.body.length }, async (key) => {
      ctx ??= await requireKey(await request.admit(credentialOf(key)), state, isBrowser);
    });
    const userAgent = isBrowser ? (request.headers['user-agent'] ?? null) : null;
    return request.read(readPosthog, withEnvelope({ userAgent }, body));
  });
  const { costNanos } = await captureEvents(ctx as unknown as CallContext, state, ready);
  return json({ status: 1 }, costNanos);
}

/** The key of a page is no secret: one that can do more is refused. */
async function requireKey(ctx: CallContext, state: AnalyticsState, isBrowser: boolean): Promise<CallContext> {
  if (isBrowser) requirePageKey(ctx.core, ctx.principal, 'analytics', CAPTURE);
  await state.unpaid.check(ctx);
  return ctx;
}

function keyOfHead({ query, headers }: RawHead): string | null {
  return query.get('api_key') || query.get('token') || bearerOf(headers);
}

function bearerOf(headers: RawHead['headers']): string | null {
  return /^bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

const credentialOf = (key: string | null) => (key === null ? null : secretCredential(key));
