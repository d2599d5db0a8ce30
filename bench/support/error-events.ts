// Events as applications send them: an exception with frames and context lines, breadcrumbs, tags, request, user. The same body goes
// to the no-op, so that what is compared is the work, not the reading.

const services = ['billing', 'search', 'mailer', 'checkout', 'inventory', 'sessions', 'reports', 'gateway'];
const verbs = ['timed out', 'was refused', 'answered nonsense', 'ran out of memory', 'lost its connection'];

export interface ErrorBody {
  readonly fingerprint: string;
  readonly text: string;
}

/** One event of about `bytes` bytes; `n` decides its fingerprint, its words and whom it happened to. */
export function errorBody(n: number, fingerprint: string, bytes: number): ErrorBody {
  const service = services[n % services.length] as string;
  const verb = verbs[n % verbs.length] as string;
  const event = {
    fingerprint,
    message: `The ${service} service ${verb} after ${n % 977} ms, request r${n.toString(36).padStart(7, '0')}`,
    level: n % 10 === 0 ? 'warning' : 'error',
    environment: n % 4 === 0 ? 'staging' : 'production',
    release: `1.${n % 12}.0`,
    user_id: `user-${n % 5_000}`,
    tags: { service, region: n % 2 === 0 ? 'eu-west' : 'us-east', worker: `w${n % 40}` },
    exception: { type: 'ServiceError', value: `${service} ${verb}`, stacktrace: [frame(n, 0), frame(n, 1)] },
    breadcrumbs: [] as object[],
    extra: { attempt: n % 5 },
  };
  for (let i = 2; JSON.stringify(event).length < bytes; i += 1) {
    if (i % 3 === 0) event.breadcrumbs.push(breadcrumb(n, i));
    else event.exception.stacktrace.push(frame(n, i));
  }
  return { fingerprint, text: JSON.stringify(event) };
}

function frame(n: number, i: number): object {
  return {
    func: `handle${i}Of${services[(n + i) % services.length]}`,
    file: `src/${services[(n + i) % services.length]}/handlers/step-${i}.ts`,
    line: 10 + ((n + i) % 400),
    col: 7,
    in_app: i % 2 === 0,
    context_pre: ['  const started = performance.now();', '  const answer = await client.call(request, { signal });'],
    context_line: "  if (!answer.ok) throw new ServiceError(answer.status, 'call failed');",
    context_post: ['  return answer.body;', '}'],
    vars: { attempt: i, retries: 3, queue: 'jobs' },
  };
}

function breadcrumb(n: number, i: number): object {
  const path = `/v1/${services[(n + i) % services.length]}/items/${n % 1000}`;
  return {
    category: 'http',
    message: `GET ${path} answered 200 in ${i * 3} ms`,
    level: 'info',
    data: { method: 'GET', url: `https://api.example.org${path}`, status: 200 },
  };
}
