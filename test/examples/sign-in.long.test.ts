// Sign-in by a code, as a program: who knows the code is let in, nobody else, and a number of the form proves nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../support/process.ts';
import { client, createTestAccount, startTestService } from '../support/service.ts';

test('it sends a code, lets in who knows it, and is read at a glance', async () => {
  const program = join(PROJECT, 'examples/sign-in/server.ts');
  expect(readFileSync(program, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(65);
  const service = await startTestService();
  const { secret } = await createTestAccount(service.core);
  const env = { ...process.env, QM_URL: service.url, QM_KEY: secret, PORT: '18433' };
  const child = spawn(process.execPath, ['--no-warnings', program], { env });
  const post = async (path: string, fields: Record<string, string>) =>
    (await fetch(`http://127.0.0.1:18433${path}`, { method: 'POST', body: new URLSearchParams(fields) })).text();
  try {
    await once(child.stdout, 'data');
    expect(await (await fetch('http://127.0.0.1:18433/')).text()).toContain('Phone number');
    const asked = await post('/start', { number: '+12025550123' });
    const id = /name="id" value="(ver_\w+)"/.exec(asked)?.[1] ?? '';
    const { items } = (await client(service.url, secret)('GET', '/v1/sms/list')).body.data;
    const code = /Sign in with (\d{6})\./.exec(items[0].text)?.[1] ?? '';
    const wrong = code === '000000' ? '111111' : '000000';
    expect(await post('/check', { id, code: wrong })).toContain('Tries left: 4.');
    expect(await post('/check', { id, code, number: '+12025550199' })).toBe('<p>Welcome, +12025550123.</p>');
    expect(await post('/check', { id, code })).toContain('Phone number');
    expect(await post('/start', { number: 'none' })).toContain('E.164');
  } finally {
    child.kill();
    await service.stop();
  }
});
