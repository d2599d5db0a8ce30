// A process that takes mail for an inbox is killed again and again. What it answered with 250 is in the inbox, and mail that its sender hands in once
// more, for it did not hear the 250, is there once.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  codeOf,
  handOver,
  type InboxOwner,
  mailText,
  type ReceivingBench,
  startReceivingBench,
} from '../email/receiving-harness.ts';
import { createPlace, freePort, type ServiceProcess, startProcess } from '../support/process.ts';
import { SECRETS_KEY } from '../support/service.ts';
import { randomOf, rounds, seed } from '../support/soak.ts';

const KILLS = rounds(8);
const SENDERS = 3;
const random = randomOf(seed);

let bench: ReceivingBench;
let owner: InboxOwner;
let inboxId: string;
let smtpPort: number;
let killed: ServiceProcess;
beforeAll(async () => {
  bench = await startReceivingBench({ ROLES: 'web,render' });
  owner = await bench.owner();
  inboxId = await owner.inbox('agent@near.test');
  smtpPort = await freePort();
  const env = {
    DATABASE_URL: bench.test.database.url,
    DNS_RESOLVERS: bench.names.address,
    SMTP_PORT: String(smtpPort),
  };
  killed = await startProcess(await createPlace({ ...env, SECRETS_KEY, TEST_CLOCK: 'on' }));
});
afterAll(async () => {
  await killed.place.remove();
  await bench.stop();
});

async function received(): Promise<string[]> {
  const subjects: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = cursor === '' ? '' : `?cursor=${cursor}`;
    const page = await owner.data('GET', `/v1/email/inbox/messages/${inboxId}${query}`);
    subjects.push(...page.items.map(({ subject }: { subject: string }) => subject));
    cursor = page.next_cursor;
  }
  return subjects;
}

test('what was taken is there, once', async () => {
  const taken = new Set<string>();
  let made = 0;
  let isOver = false;
  const sender = async () => {
    while (!isOver) {
      made += 1;
      const subject = `mail ${made}`;
      const raw = mailText({
        From: 'a@far.test',
        To: 'agent@near.test',
        Subject: subject,
        'Message-ID': `<${made}@far.test>`,
      });
      // A server tries again until it hears the 250.
      while (!isOver) {
        const code = await codeOf(handOver(smtpPort, { from: 'a@far.test', to: 'agent@near.test', raw }));
        if (code === 250) {
          taken.add(subject);
          break;
        }
        await sleep(50);
      }
      // An inbox takes 100 mails a minute.
      await sleep(400);
    }
  };
  const senders = Promise.all(Array.from({ length: SENDERS }, sender));
  for (let kill = 0; kill < KILLS; kill += 1) {
    // A process that has just begun loads what reads mail.
    await sleep(2_000 + random(1_500));
    await killed.end('SIGKILL');
    killed = await startProcess(killed.place);
  }
  isOver = true;
  await senders;
  const found = await received();
  expect(taken.size).toBeGreaterThan(2);
  expect(found.length, 'a mail is there twice').toBe(new Set(found).size);
  for (const subject of taken) expect(found).toContain(subject);
  expect((await owner.data('GET', `/v1/email/inbox/get/${inboxId}`)).message_count).toBe(found.length);
}, 300_000);
