// Webhooks of a job: the one final event, signed with the account's default secret, also for those named after the end.
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, LOCAL_TARGETS, Receiver } from '../cron/harness.ts';
import { VideoBench } from './harness.ts';

let bench: VideoBench;
let receiver: Receiver;
beforeAll(async () => {
  bench = await VideoBench.start(LOCAL_TARGETS);
  receiver = await Receiver.start();
});
afterAll(async () => {
  await bench.service.stop();
  await receiver.stop();
});

const secretOf = async () => (await bench.ok('GET', '/v1/account/webhooks/default_secret')).secret as string;
const at = (path: string) => receiver.received.filter((call) => call.path === path);
const webhooksOf = async (id: string) => (await bench.get(id)).webhooks;

test('named in the call, it is told of the end once, signed', async () => {
  const { job_id: id, webhooks } = await bench.generate({ webhook_url: receiver.url('/named') });
  expect(webhooks).toEqual([{ url: receiver.url('/named'), status: 'waiting', attempts: 0 }]);
  const [told] = await eventually(async () => (at('/named').length > 0 ? at('/named') : null));
  if (told === undefined) throw new Error('nothing was told');
  const headers = told.headers as Record<string, string>;
  expect(new Webhook(await secretOf()).verify(told.text, headers)).toMatchObject({ type: 'video.job.completed' });
  expect(headers['webhook-id']).toBe(told.body.event_id);
  expect(told.body.data.object).toMatchObject({ job_id: id, state: 'succeeded' });
  await eventually(async () => (await webhooksOf(id))[0].status === 'succeeded');
  expect(await webhooksOf(id)).toEqual([{ url: receiver.url('/named'), status: 'succeeded', attempts: 1 }]);
});

test('named after the end, it is told the same event', async () => {
  const { job_id: id } = await bench.ended((await bench.generate({ webhook_url: receiver.url('/first') })).job_id);
  const answer = await bench.ok('POST', `/v1/video/webhook/subscribe/${id}`, { webhook_url: receiver.url('/late') });
  expect(answer).toEqual({ job_id: id, webhook_url: receiver.url('/late'), status: 'pending' });
  await eventually(async () => at('/late').length === 1 && at('/first').length === 1);
  expect(at('/late')[0]?.body.event_id).toBe(at('/first')[0]?.body.event_id);
});

test('what fails is tried again after the pauses of webhooks, and 410 ends it', async () => {
  receiver.answer = ({ path }, response) => {
    const first = at(path).length === 1;
    response.writeHead(path === '/gone' ? 410 : path === '/flaky' && first ? 503 : 200).end();
  };
  const { job_id: id } = await bench.generate({ webhook_url: receiver.url('/flaky') });
  await bench.ok('POST', `/v1/video/webhook/subscribe/${id}`, { webhook_url: receiver.url('/gone') });
  await eventually(async () => (await webhooksOf(id)).every(({ attempts }: { attempts: number }) => attempts === 1));
  await eventually(async () => (await webhooksOf(id))[1].status === 'failed');
  await bench.service.advance(10);
  await eventually(async () => (await webhooksOf(id))[0].status === 'succeeded');
  expect(await webhooksOf(id)).toMatchObject([{ attempts: 2 }, { status: 'failed', attempts: 1 }]);
  const [one, two] = at('/flaky');
  expect(one?.headers['webhook-id']).toBe(two?.headers['webhook-id']);
});

test('a replaced secret signs beside the new one for a day', async () => {
  const before = await secretOf();
  const { secret, previous_until: until } = await bench.ok('POST', '/v1/account/webhooks/default_secret/rotate');
  expect(secret).not.toBe(before);
  expect(until).not.toBe(null);
  await bench.generate({ webhook_url: receiver.url('/rotated') });
  const [told] = await eventually(async () => (at('/rotated').length > 0 ? at('/rotated') : null));
  for (const one of [before, secret])
    expect(new Webhook(one).verify(told?.text ?? '', told?.headers as Record<string, string>)).toBeTruthy();
  await bench.service.advance(24 * 3_600 + 1);
  expect((await bench.ok('GET', '/v1/account/webhooks/default_secret')).previous_until).toBe(null);
});

test('a job has at most five', async () => {
  const { job_id: id } = await bench.generate({ webhook_url: receiver.url('/1') });
  for (const n of [2, 3, 4, 5])
    await bench.ok('POST', `/v1/video/webhook/subscribe/${id}`, { webhook_url: receiver.url(`/${n}`) });
  const sixth = { webhook_url: receiver.url('/6') };
  expect(await bench.fails('POST', `/v1/video/webhook/subscribe/${id}`, sixth)).toEqual([
    409,
    'QUOTA_EXCEEDED',
    undefined,
    undefined,
  ]);
});

test('a key that may only write cannot read the secret', async () => {
  const { key_secret: secret } = await bench.ok('POST', '/v1/account/keys/create', {
    name: 'reader',
    scopes: ['account:read', 'video:write'],
  });
  const reply = await fetch(`${bench.service.url}/v1/account/webhooks/default_secret`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  expect(reply.status).toBe(403);
});
