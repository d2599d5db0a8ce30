// Two processes that send mail for the same account are killed again and again, before, while and after they hand it over, by calls that wait, in the
// background and in batches. No mail reaches the relay twice, none that was accepted is lost, each recipient whom the relay took or may have taken
// is charged once, nobody else is, and in the end nothing is held.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmailBench, NANOS, SENDER } from '../email/harness.ts';
import { createPlace, type ServiceProcess, startProcess, until } from '../support/process.ts';
import { SECRETS_KEY } from '../support/service.ts';
import { randomOf, rounds, seed } from '../support/soak.ts';

const KILLS = rounds(10);
const WORKERS = 6;
const random = randomOf(seed);
/** Longer than the lease of an attempt, and than any pause after a deferral. */
const LATER_SECONDS = 13 * 3_600;

let bench: EmailBench;
const processes: ServiceProcess[] = [];
let isOver = false;
beforeAll(async () => {
  bench = await EmailBench.start({ env: { ROLES: 'web,render' } });
  const env = {
    DATABASE_URL: bench.service.database.url,
    SMTP_URL: bench.relay?.url ?? '',
    EMAIL_TRUSTED_DOMAINS: 'sender.example.org',
    TEST_CLOCK: 'on',
    RATE_LIMITS: 'off',
    SECRETS_KEY,
  };
  for (let i = 0; i < 2; i += 1) processes.push(await startProcess(await createPlace(env)));
});
afterAll(async () => {
  for (const { place } of processes) await place.remove();
  await bench.stop();
});

let made = 0;
/** Subjects of mails that a call was answered for. */
const accepted = new Set<string>();
/** Subjects whose call broke off: they may have been accepted. */
const unsure = new Set<string>();

async function order(): Promise<void> {
  made += 1;
  const subject = `mail ${made}`;
  const kind = random(4);
  const mail = (suffix = '') => ({ from: SENDER, to: 'ada@example.net', subject: subject + suffix, text: 'Hello.' });
  const isBatch = kind === 3;
  const subjects = isBatch ? ['.a', '.b', '.c'].map((suffix) => subject + suffix) : [subject];
  const body = isBatch ? { items: ['.a', '.b', '.c'].map(mail), wait: false } : { ...mail(), wait: kind !== 0 };
  const url = (processes[random(2)] as ServiceProcess).url;
  try {
    const reply = await fetch(`${url}/v1/email/${isBatch ? 'batch/send' : 'send'}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    // What a relay that was cut off has left unknown is accepted too.
    if (reply.status === 200 || reply.status === 504) for (const one of subjects) accepted.add(one);
    else if (reply.status !== 502 && reply.status < 500) throw new Error(`${reply.status}: ${await reply.text()}`);
    await reply.text();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    for (const one of subjects) unsure.add(one);
    await sleep(20);
  }
}

async function work(): Promise<void> {
  while (!isOver) await order();
}

interface Sent {
  readonly subject: string;
  readonly status: string;
}

async function all(): Promise<Sent[]> {
  const found: Sent[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await bench.call('GET', `/v1/email/list?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`);
    found.push(...body.data.items);
    cursor = body.data.next_cursor;
  }
  return found;
}

test('nothing is sent twice, lost, or charged for nothing', async () => {
  const before = await bench.balance();
  const workers = Promise.all(Array.from({ length: WORKERS }, work));
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(300 + random(700));
    // Some connections end after the mail was handed over, some mails are put off.
    if (kill % 3 === 1) bench.fail('cut', { code: 451, text: '4.3.0 Later' });
    const at = random(2);
    const process = processes[at] as ServiceProcess;
    await process.end('SIGKILL');
    processes[at] = await startProcess(process.place);
  }
  isOver = true;
  await workers;
  const isDone = async () => !(await all()).some(({ status }) => status === 'queued' || status === 'deferred');
  for (let turn = 0; turn < 4 && !(await isDone()); turn += 1) {
    await bench.service.advance(LATER_SECONDS);
    await until(isDone).catch(() => undefined);
  }
  const mails = await all();
  expect(mails.filter(({ status }) => status === 'queued' || status === 'deferred')).toEqual([]);
  const relayed = (bench.relay?.mails ?? []).map(
    ({ source }) => /^Subject: (.*)$/m.exec(source)?.[1]?.trim() as string,
  );
  expect(relayed.length, 'a mail reached the relay twice').toBe(new Set(relayed).size);
  const known = new Map(mails.map((mail) => [mail.subject, mail.status]));
  for (const subject of accepted) expect(known.has(subject), subject).toBe(true);
  for (const subject of known.keys())
    expect(accepted.has(subject) || unsure.has(subject) || known.get(subject) === 'failed', subject).toBe(true);
  // What the relay has is told as sent, or as unknown; what it has not is never told as sent.
  for (const subject of relayed) expect(['sent', 'indeterminate']).toContain(known.get(subject));
  for (const { subject, status } of mails) if (status === 'sent') expect(relayed).toContain(subject);
  const charged = mails.filter(({ status }) => status === 'sent' || status === 'indeterminate').length;
  expect(before - (await bench.balance())).toBe(BigInt(charged) * NANOS);
  const counts = Object.fromEntries(
    Map.groupBy(mails, ({ status }) => status)
      .entries()
      .map(([status, of]) => [status, of.length]),
  );
  console.log(`${mails.length} mails, ${relayed.length} at the relay, ${JSON.stringify(counts)}, ${KILLS} kills`);
  await bench.expectBooksAgree();
}, 600_000);
