// Bodies that name their key themselves are inflated before it is known whose they are: who has too much under way already is told so,
// and holds up no other account's bodies.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { hangingCalls, letGo, trialModule, untilMetric } from './harness.ts';

const PLACES = 8;
const SCOPES = ['errors.capture', 'trial.hang'];
let service: TestService;
let busy: TestAccount;
let other: TestAccount;

beforeAll(async () => {
  service = await startTestService({
    extraModules: [trialModule],
    admission: { all: { places: PLACES, turnOwnWaitMs: 60_000 } },
  });
  busy = await createTestAccount(service.core, 1, SCOPES);
  other = await createTestAccount(service.core, 1, ['errors.capture']);
});
afterAll(() => service.stop());

function report({ secret }: TestAccount, where: 'header' | 'body'): Promise<Response> {
  const dsn = where === 'body' ? `http://${secret}@127.0.0.1/v1/errors/sentry/1` : undefined;
  const event = '{"message":"it broke"}';
  return fetch(`${service.url}/v1/errors/sentry/api/1/envelope/`, {
    method: 'POST',
    headers: where === 'header' ? { 'x-sentry-auth': `Sentry sentry_key=${secret}` } : {},
    body: `${JSON.stringify({ dsn })}\n{"type":"event"}\n${event}\n`,
  });
}

test('an account that has its share of calls under way is refused; others report meanwhile', async () => {
  const hang = () => client(service.url, busy.secret)('POST', '/v1/trial/hang', {});
  const hanging = Array.from({ length: PLACES / 2 }, hang);
  await hangingCalls(PLACES / 2);
  const reports = Array.from({ length: 3 }, () => report(busy, 'body'));
  expect((await Promise.all(reports)).map(({ status }) => status)).toEqual([429, 429, 429]);
  expect((await report(other, 'header')).status).toBe(200);
  expect((await report(other, 'body')).status).toBe(200);
  letGo();
  for (const { status } of await Promise.all(hanging)) expect(status).toBe(200);
  await untilMetric(service, 'qm_calls_running', 0);
});
