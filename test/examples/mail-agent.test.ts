// The example as its README runs it: an agent that answers a mail once, also when it is killed in between.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT } from '../support/process.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let secret: string;
let call: Client;
beforeAll(async () => {
  // own service: is ended in the middle
  service = await startTestService();
  ({ secret } = await createTestAccount(service.core, 5));
  call = client(service.url, secret);
});
afterAll(() => service?.stop());

function startAgent() {
  const env = { PATH: process.env.PATH ?? '', QM_URL: service.url, QM_KEY: secret };
  const agent = spawn(process.execPath, [join(PROJECT, 'examples/mail-agent/agent.ts'), 'agent@inbox.test'], { env });
  let printed = '';
  agent.stdout.on('data', (chunk) => {
    printed += String(chunk);
  });
  return { printed: () => printed, kill: () => agent.kill('SIGKILL') };
}

test('each mail is answered once, by an agent that was killed in between', async () => {
  const { inbox_id: asking } = (await call('POST', '/v1/email/inbox/create', { address: 'ada@asking.test' })).body.data;
  const ask = (subject: string) =>
    call('POST', '/v1/email/send', {
      from: 'ada@asking.test',
      to: 'agent@inbox.test',
      subject,
      text: 'When are you open?',
    });
  const answers = async () =>
    (await call('GET', `/v1/email/inbox/messages/${asking}?limit=20`)).body.data.items.map(
      ({ subject }: never) => subject,
    );
  const first = startAgent();
  await expect.poll(first.printed).toContain('agent@inbox.test answers its mail');
  expect((await ask('One')).status).toBe(200);
  await expect.poll(answers).toEqual(['Re: One']);
  first.kill();
  expect((await ask('Two')).status).toBe(200);
  const second = startAgent();
  await expect.poll(answers).toEqual(['Re: One', 'Re: Two']);
  await expect.poll(second.printed).toContain('Two');
  second.kill();
  const { items } = (await call('GET', `/v1/email/inbox/messages/${asking}`)).body.data;
  expect(items[0].text).toContain('When are you open?');
  expect(items[0].in_reply_to).not.toBeNull();
});
