// A program that reports to Sentry with one release of the real SDK: node sentry-program.ts RELEASE SCENARIO,... DSN [TUNNEL].
// What was sent comes as lines of JSON on standard output: { scenario, id, status }; status is null for what the SDK held back.
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';

const releases = {
  8: () => import('sentry-node-8'),
  9: () => import('sentry-node-9'),
  10: () => import('@sentry/node'),
};

const [release = '', names = '', dsn = '', tunnel] = process.argv.slice(2);
let scenario = '';
const Sentry = (await releases[Number(release) as keyof typeof releases]()) as typeof import('@sentry/node');

Sentry.init({
  dsn,
  tunnel,
  release: 'shop@1.4.2',
  environment: 'staging',
  serverName: 'web-1',
  includeLocalVariables: true,
});
Sentry.getClient()?.on('afterSendEvent', (event, response) => {
  writeSync(1, `${JSON.stringify({ scenario, id: event.event_id, status: response?.statusCode ?? null })}\n`);
});

function charge(card: string): never {
  throw new TypeError(`cannot charge ${card}`);
}

const scenarios: Record<string, () => void | Promise<void>> = {
  exception() {
    Sentry.setUser({ id: 'u-17', email: 'someone@example.org', ip_address: '203.0.113.7' });
    Sentry.setTags({ region: 'eu', attempt: 3 });
    Sentry.setContext('cart', { items: 2, password: 'correct horse battery' });
    Sentry.setExtra('order', { number: 17 });
    Sentry.addBreadcrumb({ category: 'checkout', message: 'pay pressed', level: 'warning', data: { step: 4 } });
    try {
      charge('visa');
    } catch (error) {
      Sentry.captureException(error);
    }
  },
  causes() {
    const deepest = new RangeError('port out of range');
    const middle = new Error('no connection', { cause: deepest });
    Sentry.captureException(new TypeError('order not saved', { cause: middle }));
  },
  aggregate() {
    const two = new RangeError('two', { cause: new Error('behind two') });
    Sentry.captureException(new AggregateError([new TypeError('one'), two], 'both failed'));
  },
  large() {
    Sentry.captureException(new Error('large'), { extra: { text: 'wide ü '.repeat(20_000) } });
  },
  attachment() {
    Sentry.setUser({ email: 'someone@example.org' });
    Sentry.captureException(new Error('with a dump'), (scope) =>
      scope.addAttachment({ filename: 'heap.bin', data: randomBytes(5 * 1024 * 1024) }),
    );
  },
  parameters() {
    for (const order of ['17', '18']) Sentry.captureMessage(Sentry.parameterize`order ${order} failed`);
  },
  message() {
    Sentry.captureMessage('disk is nearly full', 'warning');
  },
  fingerprint() {
    for (const text of ['first', 'second'])
      Sentry.captureException(new Error(text), (scope) => scope.setFingerprint(['checkout', 'declined']));
    Sentry.captureException(new Error('third'), (scope) => scope.setFingerprint(['{{ default }}', 'apart']));
  },
  async held_back() {
    Sentry.captureException(new Error('refused'));
    await Sentry.flush(5_000);
    Sentry.captureException(new Error('held back'));
  },
  uncaught() {
    setTimeout(() => charge('nobody catches this'), 1);
  },
  rejection() {
    void Promise.reject(new Error('nobody handles this'));
  },
};

// As a server takes requests: each with a scope of its own.
for (scenario of names.split(',')) {
  await Sentry.withIsolationScope(async () => scenarios[scenario]?.());
  await Sentry.flush(5_000);
}
