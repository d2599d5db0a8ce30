// The chat page as a program, in a real browser: an answer that is under way when the page is reloaded goes on where it was.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { PROJECT } from '../support/process.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

const PORT = '18434';
let service: TestService;
let browser: TestBrowser;
beforeAll(async () => {
  service = await startTestService();
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

test('an answer survives reloads, whole and once', async () => {
  const { secret } = await createTestAccount(service.core);
  const env = { ...process.env, QM_URL: service.url, QM_KEY: secret, QM_MODEL: 'sandbox/echo-1', PORT };
  const child = spawn(process.execPath, ['--no-warnings', join(PROJECT, 'examples/chat-page/server.ts')], { env });
  try {
    await once(child.stdout, 'data');
    const page = await browser.browser.newPage();
    await page.goto(`http://127.0.0.1:${PORT}/`);
    const words = Array.from({ length: 400 }, (_, n) => `word${n}`).join(' ');
    await page.fill('input', words);
    await page.click('button');
    const said = () => page.textContent('pre').then((text) => text ?? '');
    await expect.poll(said).toContain('word5');
    await page.reload();
    await page.reload();
    await expect.poll(said).toContain('word399');
    const found = (await said()).match(/word\d+/g) ?? [];
    expect(found).toEqual(words.split(' '));
  } finally {
    child.kill();
  }
});
