// Five wires, in the shapes that the vendors' public documentation records.
import { CONTENT, type DoubleJob, INVALID, refusals, type VendorCallSeen, type Wire } from './wire.ts';

type Said = Readonly<Record<string, unknown>>;
const fields = (call: VendorCallSeen) => call.body as Said;
const bearer = (key: string) => `Bearer ${key}`;
const isOver = ({ state }: DoubleJob) => state !== 'queued' && state !== 'running';

const openaiError = (code: string, message: string, type = 'invalid_request_error') => ({
  error: { message, type, param: null, code },
});

/** https://platform.openai.com/docs/api-reference/videos; stopped like vLLM-Omni does it, by DELETE. */
export const openaiWire: Wire = {
  name: 'openai-videos',
  basePath: '/v1',
  model: 'sora-2',
  options: {},
  authorization: bearer,
  route(method, path) {
    const [, id, content] = /^\/videos(?:\/([^/?]+))?(\/content)?/.exec(path) ?? [];
    if (method === 'POST') return { operation: 'submit' };
    if (id === undefined) return null;
    if (content !== undefined) return { operation: 'video', reference: id };
    return { operation: method === 'DELETE' ? 'cancel' : 'poll', reference: id };
  },
  work: (call) => ({ model: String(fields(call).model), seconds: Number(fields(call).seconds), callbackUrl: null }),
  reference: (n) => `video_68d7512d07848190b3e45da0ecbebcde${n}`,
  accepted: (job) => ({ status: 200, body: openaiVideo(job) }),
  status: (job) => ({ status: 200, body: openaiVideo(job) }),
  refusal: refusals({
    content: [400, openaiError('moderation_blocked', CONTENT, 'image_generation_user_error')],
    invalid: [400, openaiError('invalid_value', INVALID)],
    auth: [401, openaiError('invalid_api_key', 'Incorrect API key provided.')],
    forbidden: [403, openaiError('unsupported_country_region_territory', 'Not here.', 'request_forbidden')],
    funds: [429, openaiError('insufficient_quota', 'You exceeded your current quota.', 'insufficient_quota')],
    busy: [429, openaiError('rate_limit_exceeded', 'Rate limit reached.', 'requests')],
    concurrency: [429, openaiError('rate_limit_exceeded', 'Too many videos at once.', 'videos')],
    down: [503, openaiError('server_error', 'The server is overloaded.', 'service_unavailable_error')],
  }),
  stops: (job) => (isOver(job) ? 'refused' : 'stopped'),
  answerCancel: (job) => ({ status: 200, body: { id: job.reference, deleted: true, object: 'video.deleted' } }),
  unknownJob: () => ({ status: 404, body: openaiError('not_found', 'Video not found.') }),
  videoAtOrigin: true,
};

/** https://openrouter.ai/docs, "Video generation": another dialect, other words, videos elsewhere, and no way to stop or remove. */
export const openrouterWire: Wire = {
  ...openaiWire,
  label: 'openrouter',
  basePath: '/api/v1',
  model: 'google/veo-3.1',
  options: { dialect: 'openrouter' },
  route(method, path) {
    const route = openaiWire.route(method, path);
    return method === 'DELETE' ? null : route;
  },
  work: (call) => ({ model: String(fields(call).model), seconds: Number(fields(call).duration), callbackUrl: null }),
  reference: (n) => `job-abc12${n}`,
  accepted: (job, base) => ({ status: 202, body: openrouterJob(job, base, '') }),
  status: (job, { base, video }) => ({ status: 200, body: openrouterJob(job, base, video) }),
  refusal: refusals({
    content: [403, { error: { code: 403, message: CONTENT, metadata: { reasons: ['violence'], flagged_input: 'x' } } }],
    invalid: [400, { error: { code: 400, message: INVALID } }],
    auth: [401, { error: { code: 401, message: 'No auth credentials found' } }],
    forbidden: [403, { error: { code: 403, message: 'Not for this key.' } }],
    funds: [402, { error: { code: 402, message: 'Insufficient credits.' } }],
    busy: [429, { error: { code: 429, message: 'Rate limited.' } }],
    concurrency: [429, { error: { code: 429, message: 'Too many at once.' } }],
    down: [503, { error: { code: 503, message: 'No provider is available.' } }],
  }),
  stops: () => 'refused',
  unknownJob: () => ({ status: 404, body: { error: { code: 404, message: 'Job not found' } } }),
};

function openrouterJob(job: DoubleJob, base: string, video: string): Said {
  const words = { queued: 'pending', running: 'in_progress', succeeded: 'completed', failed: 'failed' };
  return {
    id: job.reference,
    polling_url: `${base}/videos/${job.reference}`,
    status: job.word ?? { ...words, cancelled: 'cancelled', expired: 'expired' }[job.state],
    ...(job.state === 'succeeded' && { unsigned_urls: [video], usage: { cost: 0.5, is_byok: false } }),
    ...(job.state === 'failed' && {
      error: job.failure === 'content' ? `${CONTENT} (content_policy)` : BROKEN.message,
    }),
  };
}

function openaiVideo(job: DoubleJob): Said {
  const words = { queued: 'queued', running: 'in_progress', succeeded: 'completed', failed: 'failed' };
  const error = job.failure === 'content' ? { code: 'moderation_blocked', message: CONTENT } : BROKEN;
  return {
    id: job.reference,
    object: 'video',
    model: job.model,
    status: job.word ?? { ...words, cancelled: 'cancelled', expired: 'expired' }[job.state],
    progress: job.progressPct,
    created_at: 1758941485,
    completed_at: null,
    expires_at: null,
    size: '1280x720',
    seconds: String(job.seconds),
    remixed_from_video_id: null,
    error: job.state === 'failed' ? error : null,
  };
}

const BROKEN = { code: 'video_generation_failed', message: 'The generation failed.' };

/** https://fal.ai/docs, "Queue" and "Request errors". */
export const falWire: Wire = {
  name: 'fal',
  basePath: '',
  model: 'fal-ai/wan/text-to-video',
  options: {
    input: {
      duration_seconds: { field: 'duration', values: { '5': '5s', '10': '10s' } },
      resolution: 'settings.resolution',
      aspect_ratio: 'settings.aspect_ratio',
      seed: 'seed',
      negative_prompt: 'negative_prompt',
      reference_image: 'image_url',
    },
    extra: { enable_safety_checker: true },
  },
  authorization: (key) => `Key ${key}`,
  route(method, path) {
    if (path.startsWith('/.well-known/jwks.json')) return { operation: 'keys' };
    const [, id, rest = ''] = /^\/fal-ai\/wan\/requests\/([^/?]+)(\/\w+)?/.exec(path) ?? [];
    if (id === undefined) return method === 'POST' ? { operation: 'submit' } : null;
    const operation = ({ '': 'result', '/status': 'poll', '/cancel': 'cancel' } as const)[rest];
    return operation === undefined ? null : { operation, reference: id };
  },
  work(call) {
    const { duration } = fields(call);
    const callbackUrl = new URL(call.path, 'http://localhost').searchParams.get('fal_webhook');
    return { model: 'fal-ai/wan/text-to-video', seconds: Number.parseInt(String(duration), 10), callbackUrl };
  },
  reference: (n) => `80e732af-660e-45cd-bd63-580e4f2a94c${n}`,
  accepted: (job, base) => ({ status: 200, body: { ...falUrls(job, base), queue_position: 0 } }),
  status(job, { base }) {
    if (job.state === 'queued' || job.state === 'running' || job.word !== null) {
      const status = job.word ?? { queued: 'IN_QUEUE', running: 'IN_PROGRESS' }[job.state as 'queued'];
      return { status: 202, body: { status, ...falUrls(job, base), queue_position: 0 } };
    }
    const problem = {
      cancelled: { error: 'The request was cancelled.', error_type: 'client_cancelled' },
      expired: { error: 'The request timed out.', error_type: 'request_timeout' },
    }[job.state as 'cancelled'];
    return { status: 200, body: { status: 'COMPLETED', ...falUrls(job, base), metrics: {}, ...problem } };
  },
  callback(job, { video }) {
    const id = { request_id: job.reference, gateway_request_id: job.reference };
    if (job.state === 'succeeded') return { ...id, status: 'OK', payload: { video: { url: video } } };
    return { ...id, status: 'ERROR', error: 'Unexpected status code: 422', payload: null };
  },
  result(job, video) {
    if (job.state === 'succeeded') {
      return { status: 200, body: { video: { url: video, content_type: 'video/mp4', file_size: 1024 }, seed: 7 } };
    }
    const type = job.failure === 'content' ? 'content_policy_violation' : 'generation_failed';
    const msg = job.failure === 'content' ? CONTENT : BROKEN.message;
    return {
      status: 422,
      body: { detail: [{ loc: ['body', 'prompt'], msg, type, url: 'https://docs.fal.ai/errors' }] },
    };
  },
  refusal: refusals({
    content: [422, { detail: [{ loc: ['body', 'prompt'], msg: CONTENT, type: 'content_policy_violation' }] }],
    invalid: [422, { detail: [{ loc: ['body', 'duration'], msg: INVALID, type: 'value_error' }] }],
    auth: [401, { detail: 'Cannot access application. Authentication is required.' }],
    forbidden: [403, { detail: 'Forbidden' }],
    funds: [403, { detail: 'User is locked. Reason: Exhausted balance. Top up your balance.' }],
    busy: [429, { detail: 'Rate limit exceeded.' }],
    concurrency: [429, { detail: 'Reached concurrent requests limit', error_type: 'concurrent_requests_limit' }],
    down: [503, { detail: 'No runner is available.', error_type: 'runner_scheduling_failure' }],
  }),
  stops: (job) => (isOver(job) ? 'refused' : job.state === 'queued' ? 'stopped' : 'requested'),
  answerCancel(_job, outcome) {
    if (outcome === 'refused') return { status: 400, body: { status: 'ALREADY_COMPLETED' } };
    return outcome === 'stopped'
      ? { status: 200, body: { status: 'OK' } }
      : { status: 202, body: { status: 'CANCELLATION_REQUESTED' } };
  },
  unknownJob: () => ({ status: 404, body: { status: 'NOT_FOUND', detail: 'Request not found' } }),
};

function falUrls({ reference }: DoubleJob, base: string): Said {
  const url = `${base}/fal-ai/wan/requests/${reference}`;
  return { request_id: reference, response_url: url, status_url: `${url}/status`, cancel_url: `${url}/cancel` };
}

/** https://replicate.com/docs/reference/http. */
export const replicateWire: Wire = {
  name: 'replicate',
  basePath: '/v1',
  model: 'wan-video/wan-2.2-t2v-fast',
  options: { input: { ...(falWire.options.input as Said), duration_seconds: 'duration', reference_image: 'image' } },
  authorization: bearer,
  route(method, path) {
    if (path === '/webhooks/default/secret') return { operation: 'keys' };
    if (/^\/(models\/[^/]+\/[^/]+\/)?predictions$/.test(path))
      return { operation: method === 'POST' ? 'submit' : 'list' };
    const [, id, cancel] = /^\/predictions\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    return id === undefined ? null : { operation: cancel === undefined ? 'poll' : 'cancel', reference: id };
  },
  work(call) {
    const { input, webhook, version } = fields(call);
    const model = /\/models\/([^/]+\/[^/]+)\//.exec(call.path)?.[1] ?? String(version);
    return { model, seconds: Number((input as Said).duration), callbackUrl: (webhook as string | undefined) ?? null };
  },
  reference: (n) => `gm3qorzdhgbfurvjtvhg6dckh${n}`,
  accepted: (job, base) => ({ status: 201, body: prediction(job, base, '') }),
  status: (job, { base, video }) => ({ status: 200, body: prediction(job, base, video) }),
  refusal: refusals({
    content: [422, { title: 'Input flagged', detail: CONTENT, status: 422 }],
    invalid: [422, { title: 'Input validation failed', detail: INVALID, status: 422 }],
    auth: [401, { title: 'Unauthenticated', detail: 'You did not pass a valid authentication token', status: 401 }],
    forbidden: [403, { title: 'Forbidden', detail: 'You cannot run this model.', status: 403 }],
    funds: [
      402,
      { title: 'Insufficient credit', detail: 'You have insufficient credit to run this model.', status: 402 },
    ],
    busy: [429, { detail: 'Request was throttled. Your rate limit resets in ~30s.' }],
    concurrency: [429, { detail: 'Request was throttled. Too many at once.' }],
    down: [503, { title: 'Service unavailable', detail: 'Try again later.', status: 503 }],
  }),
  stops: (job) => (isOver(job) ? 'refused' : job.started ? 'requested' : 'stopped'),
  answerCancel: (job) => ({ status: 200, body: prediction(job, '', '') }),
  unknownJob: () => ({ status: 404, body: { detail: 'The requested resource could not be found.', status: 404 } }),
};

function prediction(job: DoubleJob, base: string, video: string): Said {
  const words = { queued: 'starting', running: 'processing', succeeded: 'succeeded', failed: 'failed' };
  const failure = job.failure === 'content' ? `${CONTENT} (E005)` : BROKEN.message;
  return {
    id: job.reference,
    model: job.model,
    version: 'hidden',
    status: job.word ?? { ...words, cancelled: 'canceled', expired: 'aborted' }[job.state],
    input: job.submitted.body === undefined ? {} : fields(job.submitted).input,
    output: job.state === 'succeeded' && !job.purged ? video : null,
    error: job.state === 'failed' ? failure : null,
    logs: '',
    data_removed: job.purged,
    created_at: '2026-11-01T10:00:00.000Z',
    started_at: job.started ? '2026-11-01T10:00:02.000Z' : null,
    completed_at: null,
    webhook: job.callbackUrl ?? undefined,
    urls: { get: `${base}/predictions/${job.reference}`, cancel: `${base}/predictions/${job.reference}/cancel` },
  };
}
