// The wires of DashScope (Wan) and Ark (Seedance), in the shapes that their public documentation records.
import { CONTENT, type DoubleJob, INVALID, refusals, type VendorCallSeen, type Wire } from './wire.ts';

type Said = Readonly<Record<string, unknown>>;
const fields = (call: VendorCallSeen) => call.body as Said;
const BROKEN = 'The generation failed.';

/** https://www.alibabacloud.com/help/en/model-studio/text-to-video-api-reference and "Asynchronous task management API". */
export const dashscopeWire: Wire = {
  name: 'dashscope',
  basePath: '/api/v1',
  model: 'wan2.6-t2v',
  options: { extra: { prompt_extend: false } },
  authorization: (key) => `Bearer ${key}`,
  route(method, path) {
    if (path === '/services/aigc/video-generation/video-synthesis') return { operation: 'submit' };
    const [, id, cancel] = /^\/tasks\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    if (id === undefined) return null;
    return { operation: method === 'POST' && cancel !== undefined ? 'cancel' : 'poll', reference: id };
  },
  work(call) {
    const { model, parameters } = fields(call);
    return { model: String(model), seconds: Number((parameters as Said).duration), callbackUrl: null };
  },
  reference: (n) => `a8532587-fa8c-4ef8-82be-0c46b17950d${n}`,
  accepted: (job) => ({
    status: 200,
    body: { request_id: REQUEST, output: { task_id: job.reference, task_status: 'PENDING' } },
  }),
  status: (job, { video }) => ({ status: 200, body: dashscopeTask(job, video) }),
  refusal: refusals({
    content: [400, { code: 'DataInspectionFailed', message: CONTENT, request_id: '1' }],
    invalid: [400, { code: 'InvalidParameter', message: INVALID, request_id: '1' }],
    auth: [401, { code: 'InvalidApiKey', message: 'Invalid API-key provided.', request_id: '1' }],
    forbidden: [403, { code: 'AccessDenied', message: 'Access denied.', request_id: '1' }],
    funds: [400, { code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' }],
    busy: [429, { code: 'Throttling.RateQuota', message: 'Requests rate limit exceeded.', request_id: '1' }],
    concurrency: [429, { code: 'Throttling', message: 'Too many tasks at once.', request_id: '1' }],
    down: [500, { code: 'InternalError', message: 'An internal error has occurred.', request_id: '1' }],
  }),
  stops: (job) => (job.state === 'queued' ? 'stopped' : 'refused'),
  answerCancel: (_job, outcome) =>
    outcome === 'stopped'
      ? { status: 200, body: { request_id: REQUEST } }
      : { status: 400, body: { code: 'UnsupportedOperation', message: 'Failed to cancel the task.', request_id: '1' } },
  unknownJob: () => ({ status: 200, body: { request_id: REQUEST, output: { task_id: 'x', task_status: 'UNKNOWN' } } }),
};

const REQUEST = '7574ee8f-38a3-4b1e-9280-11c33ab46e51';

function dashscopeTask(job: DoubleJob, video: string): Said {
  const states = { queued: 'PENDING', running: 'RUNNING', succeeded: 'SUCCEEDED', failed: 'FAILED' };
  const failure = { code: job.failure === 'content' ? 'DataInspectionFailed' : 'InternalError' };
  const output = {
    task_id: job.reference,
    task_status: job.word ?? { ...states, cancelled: 'CANCELED', expired: 'EXPIRED' }[job.state],
    submit_time: '2026-11-01 10:00:00.000',
    ...(job.state === 'failed' && { ...failure, message: job.failure === 'content' ? CONTENT : BROKEN }),
    ...(job.state === 'succeeded' && { video_url: video, orig_prompt: 'x' }),
  };
  const usage = { duration: job.seconds, output_video_duration: job.seconds, video_count: 1, SR: 720 };
  return { request_id: REQUEST, output, ...(job.state === 'succeeded' && { usage }) };
}

const arkError = (code: string, message: string, type = 'BadRequest') => ({
  error: { code, message, param: '', type },
});

/** https://www.volcengine.com/docs/82379/1520757 (tasks) and /1299023 (error codes). */
export const arkWire: Wire = {
  name: 'ark',
  basePath: '/api/v3',
  model: 'doubao-seedance-1-0-pro-250528',
  options: { extra: { watermark: false } },
  authorization: (key) => `Bearer ${key}`,
  route(method, path) {
    const [, id] = /^\/contents\/generations\/tasks(?:\/([^/?]+))?$/.exec(path) ?? [];
    if (id === undefined) return method === 'POST' ? { operation: 'submit' } : null;
    return { operation: method === 'DELETE' ? 'cancel' : 'poll', reference: id };
  },
  work(call) {
    const { model, duration, callback_url } = fields(call);
    return {
      model: String(model),
      seconds: Number(duration),
      callbackUrl: (callback_url as string | undefined) ?? null,
    };
  },
  reference: (n) => `cgt-20261101100000-6bbj${n}`,
  accepted: (job) => ({ status: 200, body: { id: job.reference } }),
  status: (job, { video }) => ({ status: 200, body: arkTask(job, video) }),
  refusal: refusals({
    content: [400, arkError('InputTextSensitiveContentDetected', CONTENT)],
    invalid: [400, arkError('InvalidParameter', INVALID)],
    auth: [401, arkError('AuthenticationError', 'The API key in the request is missing or invalid.', 'Unauthorized')],
    forbidden: [403, arkError('AccessDenied', 'No access to the requested resource.', 'Forbidden')],
    funds: [403, arkError('AccountOverdueError', 'Your account has an overdue balance.', 'Forbidden')],
    busy: [429, arkError('RateLimitExceeded.EndpointRPMExceeded', 'Too many requests.', 'TooManyRequests')],
    concurrency: [429, arkError('ServerOverloaded', 'The service is busy.', 'TooManyRequests')],
    down: [500, arkError('InternalServiceError', 'The service encountered an error.', 'InternalServerError')],
  }),
  stops: (job) => (job.state === 'queued' ? 'stopped' : 'refused'),
  answerCancel: (_job, outcome) =>
    outcome === 'stopped'
      ? { status: 200, body: {} }
      : { status: 409, body: arkError('InvalidAction.RunningTaskDeletion', 'A running task cannot be deleted.') },
  unknownJob: () => ({
    status: 404,
    body: arkError('InvalidParameter.NotFound', 'The task was not found.', 'NotFound'),
  }),
};

function arkTask(job: DoubleJob, video: string): Said {
  const sensitive = { code: 'OutputVideoSensitiveContentDetected', message: CONTENT };
  return {
    id: job.reference,
    model: job.model,
    status: job.word ?? job.state,
    error:
      job.state === 'failed'
        ? job.failure === 'content'
          ? sensitive
          : { code: 'InternalServiceError', message: BROKEN }
        : null,
    created_at: 1793527200,
    updated_at: 1793527260,
    ...(job.state === 'succeeded' && {
      content: { video_url: video },
      usage: { completion_tokens: 108900, total_tokens: 108900 },
      seed: 7,
      resolution: '720p',
      ratio: '16:9',
      duration: job.seconds,
      framespersecond: 24,
    }),
  };
}
