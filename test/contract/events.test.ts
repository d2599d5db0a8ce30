// Every kind of event is described where an agent looks for it, and what the service tells is as described.
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { releasedEvents } from '../../src/kit/offer.ts';
import { publicDocuments } from '../../src/surfaces/documents/documents.ts';
import { keysStopped, restoreAccount } from '../../src/upkeep/deletion/deletion.ts';
import { payloadOf, solutionOf } from '../captcha/harness.ts';
import { eventually } from '../cron/harness.ts';
import { capabilities, manifest } from '../support/capabilities.ts';
import { allEvents, eventFaults, type TestEvent } from '../support/events.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { type MailPlace, mailCauses, mailPlace } from './mail-causes.ts';

const baseUrl = 'http://127.0.0.1:8787';
const documents = publicDocuments(manifest, { baseUrl });
const toldWithoutCall = releasedEvents(manifest).flatMap(({ type, withoutCall }) =>
  withoutCall === undefined ? [] : [type],
);
const told = [...new Set([...capabilities.flatMap(({ events }) => events), ...toldWithoutCall])];
let service: TestService;
let call: Client;
let accountId: string;
let place: MailPlace;

beforeAll(async () => {
  place = await mailPlace();
  service = await startTestService({ env: place.env });
  const account = await createTestAccount(service.core, 3);
  ({ accountId } = account);
  call = client(service.url, account.secret);
});
afterAll(async () => {
  await service.stop();
  await place.relay.stop();
});

test('what some code tells is ga, all else is planned', () => {
  const ga = releasedEvents(manifest).map(({ type }) => type);
  expect(ga.sort()).toEqual(told.sort());
});

const PLANNED = 'system.maintenance.scheduled';

test('what is planned has its name and its page, and no payload anywhere', async () => {
  const { body } = await call('GET', `/v1/discovery/event/${PLANNED}`);
  const summary = 'Maintenance of the service is planned.';
  expect(body.data).toEqual({ type: PLANNED, module: 'system', status: 'planned', summary });
  const page = documents.get(`/docs/events/${PLANNED}`)?.render() ?? '';
  expect(page).toContain('planned: it does not occur yet');
  expect(page).not.toContain('Payload');
  expect(openapi().webhooks[PLANNED]).toBeUndefined();
});

describe.each(releasedEvents(manifest).map(({ type }) => type))('%s', (type) => {
  test('has a schema and an example in discovery, on its page and in the webhooks of the OpenAPI document', async () => {
    const { status, body } = await call('GET', `/v1/discovery/event/${type}`);
    expect(status).toBe(200);
    const { data_schema: schema, example } = body.data;
    expect(eventFaults(example)).toEqual([]);
    const ajv = new Ajv({ strict: false });
    addFormats.default(ajv);
    expect(ajv.validate(schema, example.data), ajv.errorsText()).toBe(true);
    const page = documents.get(`/docs/events/${type}`)?.render() ?? '';
    for (const name of Object.keys(schema.properties.object.properties)) {
      expect(page, name).toContain(`<code>object.${name}</code>`);
    }
    expect(page).toContain(`&quot;type&quot;: &quot;${type}&quot;`);
    const { post } = openapi().webhooks[type];
    expect(post.requestBody.content['application/json'].example).toEqual(example);
    expect(JSON.stringify(post.requestBody.content['application/json'].schema)).toContain(`"const":"${type}"`);
  });
});

let parsed: TestEvent;
function openapi(): TestEvent {
  parsed ??= JSON.parse(documents.get('/v1/openapi.json')?.render() ?? '');
  return parsed;
}

test('a capability names its events with their payloads', async () => {
  for (const { id, events } of capabilities.filter((each) => each.events.length > 0)) {
    const { data } = (await call('GET', `/v1/discovery/${id}?view=full`)).body;
    expect([id, data.events.map(({ type }: TestEvent) => type).sort()]).toEqual([id, [...events].sort()]);
    for (const { example } of data.events) expect(eventFaults(example)).toEqual([]);
  }
});

test.each([
  ['queue.dlx', ' Did you mean queue.dlq?'],
  ['order.paid', ''],
])('the unknown type %s is a 404', async (type, hint) => {
  const { status, body } = await call('GET', `/v1/discovery/event/${type}`);
  expect([status, body.error.code, body.error.param]).toEqual([404, 'NOT_FOUND', 'type']);
  expect(body.error.message).toBe(`There is no event type "${type}".${hint} GET /v1/discovery lists all.`);
  const told = await call('GET', '/v1/discovery/discovery.event');
  expect(told.body.data.errors).toContainEqual(expect.objectContaining({ code: 'NOT_FOUND' }));
});

async function capture(message: string, times = 1) {
  const captures = Array.from({ length: times }, () =>
    call('POST', '/v1/errors/capture', { message, environment: 'production', tags: { host: 'a' }, user_id: 'u-1' }),
  );
  return (await Promise.all(captures))[0]?.body.data;
}

/** What calls tell; what is told without one is held against its schema in background-events.test.ts. */
const causes: Readonly<Record<string, () => Promise<unknown>>> = {
  'account.updated': () => call('PATCH', '/v1/account/update', { name: 'renamed' }),
  'account.deleted': async () => {
    const { account_id: confirm } = (await call('GET', '/v1/account/get')).body.data;
    await call('DELETE', '/v1/account/delete', { confirm, forfeit_balance: true });
    await service.core.db.transaction((tx) => restoreAccount(tx, confirm));
    await keysStopped(service.core, confirm);
  },
  'error.captured': async () => {
    const { error_group_id: id } = await capture('disk full');
    await call('POST', `/v1/errors/resolve/${id}`);
    await capture('disk full');
  },
  'error.rate_anomaly': () => capture('many', 60),
  'wallet.low_balance': async () => {
    const budget = { period: 'daily', hard_cap_usd: 10, alert_threshold_usd: 0.01 };
    expect((await call('PUT', '/v1/account/budget/set', budget)).status).toBe(200);
    await call('POST', '/v1/queue/create', { name: 'jobs' });
    const items = Array.from({ length: 100 }, () => ({ payload: {} }));
    for (let i = 0; i < 6; i += 1) await call('POST', '/v1/queue/batch/publish', { queue: 'jobs', items });
  },
  'queue.dlq': async () => {
    await call('POST', '/v1/queue/create', { name: 'dead' });
    await call('POST', '/v1/queue/create', { name: 'work', dead_letter_queue: 'dead' });
    await call('POST', '/v1/queue/publish', { queue: 'work', payload: { n: 1 } });
    const { data } = (await call('POST', '/v1/queue/consume', { queue: 'work' })).body;
    const { receipt_handle } = data.items[0];
    await call('POST', '/v1/queue/nack', { queue: 'work', receipt_handle, requeue: false, reason: 'no good' });
  },
  'video.job.completed': async () => {
    const { data } = (await call('POST', '/v1/video/generate', { prompt: 'A boat.', duration_seconds: 1 })).body;
    const path = `/v1/video/get/${data.job_id}`;
    await eventually(async () => (await call('GET', path)).body.data.finished_at, 50_000);
  },
  'video.job.failed': async () => {
    const { data } = (await call('POST', '/v1/video/generate', { prompt: '[[hang]]', duration_seconds: 1 })).body;
    await call('POST', `/v1/video/cancel/${data.job_id}`);
  },
  'image.job.completed': async () => {
    const { data } = (await call('POST', '/v1/image/generate', { prompt: 'A boat.', size: '256x256' })).body;
    await eventually(async () => (await call('GET', `/v1/image/get/${data.job_id}`)).body.data.finished_at, 50_000);
  },
  'image.job.failed': async () => {
    const { data } = (await call('POST', '/v1/image/generate', { prompt: '[[hang]]', size: '256x256' })).body;
    await call('POST', `/v1/image/cancel/${data.job_id}`);
  },
  'sms.queued': () => call('POST', '/v1/sms/send', { to: '+12025550123', text: 'Hello' }),
  'sms.sent': () => call('POST', '/v1/sms/send', { to: '+12025550123', text: 'Hello' }),
  'sms.failed': async () => {
    const { data } = (await call('POST', '/v1/sms/send', { to: '+12025550000', text: 'Hello' })).body;
    await eventually(async () => (await call('GET', `/v1/sms/get/${data.sms_id}`)).body.data.ended_at, 20_000);
  },
  'sms.inbound': () => call('POST', '/v1/sms/sandbox/inbound', { from: '+12025550123', text: 'Hello' }),
  'captcha.verified': async () => {
    const { challenge } = (await call('GET', '/v1/captcha/challenge?difficulty=easy')).body.data;
    const payload = payloadOf({ challenge, solution: await solutionOf(challenge) });
    await call('POST', '/v1/captcha/verify', { payload });
  },
  'captcha.failed': () => call('POST', '/v1/captcha/verify', { payload: 'bm90IGEgc29sdXRpb24=' }),
  ...mailCauses({ service: () => service, call: () => call, accountId: () => accountId }, true),
};

test('every type that a call may tell has its cause here', () => {
  const calls = new Set(capabilities.flatMap(({ events }) => events));
  expect(Object.keys(causes).sort()).toEqual([...calls].sort());
});

test.each(Object.keys(causes))('%s is told as it is described', async (type) => {
  await causes[type]?.();
  const events = (await allEvents(call)).filter((event) => event.type === type);
  expect(events.length).toBeGreaterThan(0);
  for (const event of events) expect([eventFaults(event), event]).toEqual([[], event]);
});
