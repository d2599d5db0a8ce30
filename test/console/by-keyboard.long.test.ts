// By keyboard alone, from the first page that nobody is signed in to: in by an identity provider, and a webhook that is told what happens.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { press, tabTo, typeInto } from '../support/console.ts';
import { type OidcServer, startOidc } from '../support/identity/oidc.ts';
import { freePort } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { LOCAL_TARGETS, Receiver } from '../webhooks/api-harness.ts';

let service: TestService;
let chromium: TestBrowser;
let receiver: Receiver;
let corp: OidcServer;
beforeAll(async () => {
  const port = await freePort();
  corp = await startOidc([`http://127.0.0.1:${port}/auth/callback/corp`]);
  corp.person = { sub: 'ada', email: 'ada@example.org', email_verified: true, name: 'Ada' };
  const env = { ...LOCAL_TARGETS, PORT: String(port), IDENTITY_PROVIDERS: JSON.stringify([corp.entry('corp')]) };
  [service, chromium, receiver] = await Promise.all([startTestService({ env }), startBrowser(), Receiver.start()]);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close(), receiver?.stop(), corp?.stop()]);
});

test('in by a provider, to the page that was asked for; a webhook is registered, its secret seen once, and told of a test', async () => {
  const page = await (await chromium.browser.newContext()).newPage();
  await page.goto(`${service.url}/console/webhooks`);
  await press(page, 'text=Continue with corp');
  await page.waitForURL(`${service.url}/console/webhooks`);
  expect(await page.textContent('.who')).toContain('ada@example.org');
  await press(page, 'main a:has-text("New webhook")');
  await typeInto(page, '#create-url', receiver.url('/keyboard'));
  await typeInto(page, '#create-events', 'queue.dlq');
  await typeInto(page, '#create-description', 'typed');
  await press(page, 'button:has-text("Create webhook")');
  await page.waitForSelector('.secret');
  const secret = (await page.textContent('.secret')) ?? '';
  expect(secret).toMatch(/^whsec_/);
  await press(page, 'main a:has-text("Open the webhook")');
  await page.waitForURL('**/console/webhooks/wh_*');
  expect(await page.content()).not.toContain(secret);
  await press(page, 'button:has-text("Send test event")');
  expect(await receiver.arrived('/keyboard', 1)).toHaveLength(1);
  await press(page, '.who');
  await tabTo(page, 'button:has-text("Sign out")');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.url}/auth`);
  await page.context().close();
});
