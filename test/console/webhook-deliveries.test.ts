// Deliveries of a webhook: what was sent stands on the page, and several are sent again at once. All events are chosen by one box.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendForm, signedIn } from '../support/console.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { LOCAL_TARGETS } from '../webhooks/api-harness.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: LOCAL_TARGETS });
});
afterAll(() => service?.stop());

async function newAccount() {
  const { secret } = await createTestAccount(service.core, 5);
  return { call: client(service.url, secret), visitor: await signedIn(service.url, secret) };
}

test('the payload is shown, and the ticked deliveries are sent again', async () => {
  const { call, visitor } = await newAccount();
  // Nobody listens there.
  const { body } = await call('POST', '/v1/account/webhooks/register', {
    url: 'http://127.0.0.1:9/hook',
    events: ['queue.dlq'],
  });
  const id: string = body.data.webhook_id;
  for (const note of ['first', 'second']) await call('POST', `/v1/account/webhooks/test/${id}`, { note });
  const items = async () => (await call('GET', `/v1/account/webhooks/deliveries/${id}`)).body.data.items;
  const before = await items();
  const { text } = await visitor.get(`/console/webhooks/${id}`);
  const payloads = [...text.matchAll(/aria-label="Payload"[^>]*>([\s\S]*?)<\/pre>/g)].map(([, of = '']) => of);
  expect(payloads).toHaveLength(2);
  for (const { event_id: event } of before) expect(payloads.some((of) => of.includes(event))).toBe(true);
  expect(text).toContain('data-tone="critical">failed');
  const page = `/console/webhooks/${id}`;
  const chosen = new URLSearchParams(before.map(({ delivery_id }: { delivery_id: string }) => ['id', delivery_id]));
  const form_token = await visitor.formToken(page);
  const [, form_key = ''] = /name="form_key" value="([^"]+)"/.exec(text) ?? [];
  const sent = await visitor.send(
    'POST',
    page,
    { origin: new URL(service.url).origin, 'content-type': 'application/x-www-form-urlencoded' },
    `${new URLSearchParams({ form_token, form_key, act: 'redeliver_selected' })}&${chosen}`,
  );
  expect([sent.status, sent.location]).toEqual([303, `${page}?done=webhook.redeliver_selected`]);
  // Each is under way once more.
  expect((await items()).length).toBeGreaterThanOrEqual(before.length);
});

test('the box of all events gives all that there are', async () => {
  const { call, visitor } = await newAccount();
  const url = 'http://127.0.0.1:9/all';
  const made = await sendForm(visitor, '/console/webhooks', 'create', { url, event: '*' });
  expect(made.text).toContain('class="secret"');
  const [webhook] = (await call('GET', '/v1/account/webhooks/list')).body.data.items;
  expect(webhook.events).toEqual(expect.arrayContaining(['queue.dlq', 'topup.succeeded', 'error.captured']));
  const settings = await visitor.get(`/console/webhooks/${webhook.webhook_id}/settings`);
  expect(settings.text).toMatch(/value="\*" checked/);
});
