// Language models in the console: what there is, one question with its answer and the call that asked it, and what that cost.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectSoundPages, looks, openConsole, sendForm, signedIn } from '../support/console.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

const HOSTILE = '<script>alert(1)</script> & "quotes"';
let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 1);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

test.each(looks)('is sound: $width px, $colorScheme', async (look) => {
  await expectSoundPages(chromium.browser, service.url, account.secret, look, [
    ['ai', 'AI'],
    ['ai?search=none', 'AI'],
  ]);
});

test('a question is answered, as the call beside it would be', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await page.goto(`${service.url}/console/ai`);
  await page.fill('#chat-prompt', HOSTILE);
  await page.fill('#chat-model', 'sandbox/echo-1');
  await page.click('button:has-text("Ask")');
  await expect.poll(() => page.textContent('h1')).toBe('An answer');
  const answer = await page.textContent('pre[aria-label="Answer"]');
  expect(answer).toContain(HOSTILE);
  const command = (await page.textContent('pre[aria-label="The call"]')) ?? '';
  const [, body = ''] = /-d '([\s\S]*)'$/.exec(command) ?? [];
  const again = await client(service.url, account.secret)('POST', '/v1/ai/chat', body);
  expect(again.body.data.choices[0].message.content).toBe(answer?.trimStart());
  expect(await page.inputValue('#chat-prompt')).toBe(HOSTILE);
  expect(faults).toEqual([]);
});

test('a model that is not there is told at its field, what was typed stays, and spend stands by capability', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const refused = await sendForm(visitor, '/console/ai', 'chat', { prompt: 'hello', model: 'none/such' });
  expect(refused.status).toBe(404);
  expect(refused.text).toContain('value="none/such"');
  expect(refused.text).toContain('id="chat-model-fault"');
  expect((await sendForm(visitor, '/console/ai', 'chat', { prompt: 'hello', model: 'sandbox/echo-1' })).status).toBe(
    200,
  );
  expect((await visitor.get('/console/ai')).text).toContain('>ai.chat</a>');
});

test('a key that may only read sees the models and asks none', async () => {
  const { body } = await client(service.url, account.secret)('POST', '/v1/account/keys/create', {
    scopes: ['ai:read'],
  });
  const page = await (await signedIn(service.url, body.data.key_secret)).get('/console/ai');
  expect([page.status, page.text.includes('sandbox/echo-1'), page.text.includes('value="chat"')]).toEqual([
    200,
    true,
    false,
  ]);
});
