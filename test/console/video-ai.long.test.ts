// Videos and language models in the console. The price of a video is told first, it is made, seen and deleted by its id. One question is asked,
// with its answer and the call beside it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectDone, expectSoundPages, openConsole, press, sendForm, signedIn, typeInto } from '../support/console.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

const HOSTILE = '<iframe src=javascript:alert(1)>"\u202e'.padEnd(300, 'w');
const QUESTION = '<script>alert(1)</script> & "quotes"';
const QUICK = { model: 'sandbox/storyboard-1', duration_seconds: 1 };
let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
let other: TestAccount;
let call: Client;
let video: string;
let failed: string;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 10);
  other = await createTestAccount(service.core, 10);
  call = client(service.url, account.secret);
  const asked = { model: 'sandbox/echo-1', messages: [{ role: 'user', content: QUESTION }] };
  expect((await call('POST', '/v1/ai/chat', asked)).status).toBe(200);
  [video, failed] = await Promise.all([ended(HOSTILE), ended('[[fail:CONTENT_REFUSED]]')]);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

const get = async (id: string) => (await call('GET', `/v1/video/get/${id}`)).body.data;

async function ended(prompt: string): Promise<string> {
  const { status, text, body } = await call('POST', '/v1/video/generate', { ...QUICK, prompt });
  expect(status, text).toBe(200);
  const id = body.data.job_id as string;
  await eventually(async () => (await get(id)).finished_at !== null);
  return id;
}

test('is sound, narrow and dark', async () => {
  const heading = `${HOSTILE.slice(0, 80)}…`;
  await expectSoundPages(chromium.browser, service.url, account.secret, [
    ['video', 'Video'],
    ['video?state=succeeded', 'Video'],
    ['video?new=1', 'New video'],
    [`video/${video}`, heading],
    [`video/${failed}`, '[[fail:CONTENT_REFUSED]]'],
    [`video/${video}/delete`, 'Delete a video'],
    ['video?cursor=none', 'Video'],
    ['video/vid_00000000000000000000', 'There is no such page'],
    ['ai', 'AI'],
    ['ai/models', 'AI'],
    ['ai/models?search=none', 'AI'],
  ]);
  await expectSoundPages(chromium.browser, service.url, other.secret, [['video', 'Video']]);
});

test('by keyboard alone a video is ordered for a price that was told; it shows by itself, and plays', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await page.goto(`${service.url}/console/video`);
  await press(page, 'main a:has-text("New video")');
  await typeInto(page, '#quote-prompt', 'A paper boat.');
  await typeInto(page, '#quote-duration_seconds', '1');
  await typeInto(page, '#quote-model', QUICK.model);
  await press(page, 'button:has-text("Get price")');
  await expect.poll(() => page.textContent('h1')).toBe('Price of the video');
  expect(await page.textContent('main')).toContain('for 1 s in 720p');
  await press(page, 'button:has-text("Generate video")');
  await expect.poll(() => new URL(page.url()).pathname).toMatch(/\/console\/video\/vid_/);
  await page.waitForSelector('video', { timeout: 50_000 });
  const seconds = 'document.querySelector("video").play().then(() => document.querySelector("video").duration)';
  expect(await page.evaluate(seconds)).toBeCloseTo(1, 0);
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  expect(await get(id)).toMatchObject({ state: 'succeeded', prompt: 'A paper boat.' });
  await page.goto(`${service.url}/console/video`);
  const picture = `document.querySelector('a[href$="${id}"] img')`;
  await expect.poll(() => page.evaluate(`${picture}.naturalWidth`)).toBeGreaterThan(0);
  const source = `${picture}.src`;
  const [before, rows] = [await page.evaluate(source), await page.locator('tbody tr').count()];
  await ended('Another boat.');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(rows + 1);
  // What has come stays, though its link is signed anew.
  expect(await page.evaluate(source)).toBe(before);
  expect(faults).toEqual([]);
});

test('by keyboard alone a video is found among those that failed, and deleted by its id', async () => {
  const id = await ended('[[fail:CONTENT_REFUSED]] typed');
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await page.goto(`${service.url}/console/video`);
  await press(page, '.tabs a:has-text("failed")');
  await expect.poll(() => new URL(page.url()).search).toContain('state=failed');
  await press(page, `tbody a[href$="${id}"]`);
  await press(page, 'main a:has-text("Delete…")');
  await typeInto(page, '#delete-typed', id);
  await page.keyboard.press('Enter');
  await expectDone(page, 'deleted');
  expect((await call('GET', `/v1/video/get/${id}`)).status).toBe(404);
  expect(faults).toEqual([]);
});

test('a video is deleted by its id only, and an order that is refused says why, without scripts', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const refused = await sendForm(visitor, '/console/video', 'quote', { prompt: 'x', duration_seconds: '900' });
  expect([refused.status, refused.text.includes('id="quote-duration_seconds-fault"')]).toEqual([400, true]);
  const page = `/console/video/${failed}/delete`;
  expect((await sendForm(visitor, page, 'delete', { typed: 'vid' })).status).toBe(400);
  const deleted = await sendForm(visitor, page, 'delete', { typed: failed });
  expect([deleted.status, deleted.location]).toEqual([303, '/console/video?done=video_delete.delete']);
  expect((await call('GET', `/v1/video/get/${failed}`)).status).toBe(404);
});

test('a video of another account is as unknown as one that never was', async () => {
  const visitor = await signedIn(service.url, other.secret);
  const foreign = await visitor.get(`/console/video/${video}`);
  expect([foreign.status, foreign.text.includes('There is no such page'), foreign.text.includes('sig=')]).toEqual([
    404,
    true,
    false,
  ]);
});

test('by keyboard alone a question is answered, as the call beside it would be', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await page.goto(`${service.url}/console/ai`);
  await typeInto(page, '#chat-prompt', QUESTION);
  await typeInto(page, '#chat-model', 'sandbox/echo-1');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.chat .assistant p');
  const answer = await page.textContent('pre[aria-label="Answer"]');
  expect(await page.textContent('.chat .assistant')).toMatch(/sandbox\/echo-1 · \d+ tokens · \$0\.0/);
  await press(page, '#call summary');
  expect(answer).toContain(QUESTION);
  const command = (await page.textContent('pre[aria-label="The call"]')) ?? '';
  const [, body = ''] = /-d '([\s\S]*)'$/.exec(command) ?? [];
  const again = await client(service.url, account.secret)('POST', '/v1/ai/chat', body);
  expect(again.body.data.choices[0].message.content).toBe(answer?.trimStart());
  // The conversation goes on: what was said before is sent along.
  await typeInto(page, '#chat-system', 'Be brief.');
  await typeInto(page, '#chat-prompt', 'And again?');
  await press(page, 'button:has-text("Send")');
  await expect.poll(() => page.locator('.chat .assistant p').count()).toBe(2);
  const { messages } = JSON.parse(
    /-d '([\s\S]*)'$/.exec((await page.textContent('pre[aria-label="The call"]')) ?? '')?.[1] ?? '',
  );
  expect(messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: QUESTION },
    { role: 'assistant', content: answer?.trimStart() },
    { role: 'user', content: 'And again?' },
  ]);
  expect(await page.textContent('main')).toMatch(/\$0\.\d+.* so far/);
  // The tab keeps it until another one begins.
  await page.goto(`${service.url}/console/ai/models`);
  await page.goto(`${service.url}/console/ai`);
  await expect.poll(() => page.locator('.chat li').count()).toBe(4);
  expect(await page.inputValue('#chat-system')).toBe('Be brief.');
  await typeInto(page, '#chat-prompt', 'Once more?');
  await press(page, 'button:has-text("Send")');
  await expect.poll(() => page.locator('.chat .assistant p').count()).toBe(3);
  // A call that fails says why, and what was asked stays.
  await typeInto(page, '#chat-model', 'none/such');
  await typeInto(page, '#chat-prompt', 'Anybody?');
  await press(page, 'button:has-text("Send")');
  expect(await page.textContent('#chat-failed')).toMatch(/There is no model/);
  expect([await page.inputValue('#chat-prompt'), await page.locator('.chat li').count()]).toEqual(['Anybody?', 6]);
  await press(page, 'a:has-text("New conversation")');
  await page.waitForURL('**/console/ai');
  expect(await page.locator('.chat li').count()).toBe(0);
  // The browser tells of the call that failed.
  expect(faults).toEqual([expect.stringContaining('404')]);
});

test('a model that is not there is told at its field, what was typed stays, and spend stands by model', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const refused = await sendForm(visitor, '/console/ai', 'chat', { prompt: 'hello', model: 'none/such' });
  expect(refused.status).toBe(404);
  expect(refused.text).toContain('value="none/such"');
  expect(refused.text).toContain('id="chat-model-fault"');
  expect((await sendForm(visitor, '/console/ai', 'chat', { prompt: 'hello', model: 'sandbox/echo-1' })).status).toBe(
    200,
  );
  const [{ model, calls, spend_usd }] = (await call('GET', '/v1/ai/usage')).body.data.by_model;
  expect([model, calls > 0, spend_usd > 0]).toEqual(['sandbox/echo-1', true, true]);
  const { text } = await visitor.get('/console/ai/models');
  const [row = ''] = /<tr><th scope="row"><bdi>sandbox\/echo-1[\s\S]*?<\/tr>/.exec(text) ?? [];
  expect([row.includes('>ai.chat</a>'), row.includes(`class="number">${calls}</td>`)]).toEqual([true, true]);
});

test('a key that may only read sees the models and asks none', async () => {
  const { body } = await client(service.url, account.secret)('POST', '/v1/account/keys/create', {
    scopes: ['ai:read'],
  });
  const page = await (await signedIn(service.url, body.data.key_secret)).get('/console/ai/models');
  expect([page.status, page.text.includes('sandbox/echo-1'), page.text.includes('value="chat"')]).toEqual([
    200,
    true,
    false,
  ]);
  expect(page.text).toContain(`ANTHROPIC_BASE_URL=${service.url} ANTHROPIC_AUTH_TOKEN=KEY`);
});
