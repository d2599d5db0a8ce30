// Alerts in the console: the list, the page of a rule, and what fires on the first page.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sendForm, signedIn } from '../support/console.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { Alerts, ENV, WAIT } from './harness.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ env: ENV });
});
afterAll(() => service.stop());

test('a rule that fires is on its pages and on the first page, and can be silenced there', async () => {
  const own = await Alerts.at(service);
  const visitor = await signedIn(service.url, own.account.secret);
  expect((await visitor.get('/console/alerts')).text).toContain('No rules yet');
  await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
  await own.ok('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
  const title = 'Too deep <script>';
  await own.set({ title, when: { queue: { queue: 'jobs', measure: 'depth' } }, notify: [{ queue: 'told' }] });
  await vi.waitFor(async () => expect((await own.get()).state).toBe('firing'), WAIT);
  const page = await visitor.get('/console/alerts/r');
  expect(page.status, page.text).toBe(200);
  for (const text of ['Too deep &lt;script&gt;', 'firing', 'queue: told', 'Silence for an hour'])
    expect(page.text).toContain(text);
  expect((await visitor.get('/console/alerts')).text).toContain('/console/alerts/r');
  expect((await visitor.get('/console')).text).toContain('has been firing since');
  await sendForm(visitor, '/console/alerts/r', 'silence', {});
  expect((await own.get()).silenced_until).not.toBeNull();
  expect((await visitor.get('/console/alerts/r')).text).toContain('End the silence');
});
