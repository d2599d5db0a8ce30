// An account with one of everything that pages of the console show, made by calls of the API, and the address of each page of it.
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { ConsolePage } from '../../src/kit/console/page.ts';
import { eventually } from '../cron/harness.ts';
import { leaveCard } from './leave-card.ts';
import type { Client } from './service.ts';
import { exampleSite } from './site.ts';

/** What the addresses of its pages name. */
export interface Filled {
  readonly queue: string;
  readonly dlq: string;
  readonly schedule: string;
  readonly webhook: string;
  readonly receiver: string;
  readonly group: string;
  readonly collection: string;
  readonly video: string;
  readonly image: string;
  readonly key: string;
  readonly card: string;
  readonly request: string;
  readonly bucket: string;
  readonly object: string;
  readonly email_id: string;
  readonly domain: string;
  readonly inbox_id: string;
  readonly inbound_id: string;
  readonly sms: string;
  readonly zone: string;
  readonly flag: string;
  /** A distinct ID of analytics. */
  readonly person: string;
  readonly dashboard: string;
  readonly question: string;
  readonly crawl: string;
  readonly channel: string;
  /** A call that waits for approval, and the rule that asks. */
  readonly approval: string;
  readonly rule: string;
  readonly connection: string;
  /** Of OAuth, for connections. */
  readonly provider: string;
  /** A rule of alerts. */
  readonly alert: string;
}

/** Names that its things have by themselves, without the mark. */
interface Names
  extends Pick<
    Filled,
    'queue' | 'dlq' | 'collection' | 'bucket' | 'flag' | 'channel' | 'rule' | 'connection' | 'alert'
  > {
  readonly folder: string;
  readonly metric: string;
  /** What the names of its domain, its zone and the address of its inbox begin with. */
  readonly label: string;
}

const usualNames: Names = {
  queue: 'jobs',
  dlq: 'failed',
  collection: 'notes',
  bucket: 'files',
  folder: 'reports',
  flag: 'checkout_12',
  channel: 'presence-room_12',
  metric: 'filled_metric',
  rule: 'asks',
  connection: 'forge',
  alert: 'shop-errors',
  label: '',
};

/** As long as there may be, without a place to break them. */
export const longNames: Names = {
  queue: 'q'.repeat(80),
  dlq: 'd'.repeat(80),
  collection: 'c'.repeat(128),
  bucket: 'b'.repeat(63),
  folder: 'o'.repeat(200),
  flag: 'F'.repeat(128),
  channel: `presence-${'r'.repeat(150)}`,
  metric: 'm'.repeat(120),
  rule: 'r'.repeat(64),
  connection: 'v'.repeat(64),
  alert: 'a'.repeat(128),
  label: 'w'.repeat(50),
};

type FilledEmail = Pick<Filled, 'email_id' | 'domain' | 'inbox_id' | 'inbound_id'>;

const PROVIDER = 'forge';

const QUICK = { model: 'sandbox/storyboard-1', duration_seconds: 1 };

/** `mark` stands in every text that somebody chose. `receiver`: an address that takes deliveries. */
export async function fillAccount(call: Client, receiver: string, mark: string, names = usualNames): Promise<Filled> {
  const ok = async (method: string, path: string, body?: unknown) => {
    const reply = await call(method, path, body);
    expect(reply.status, `${path}: ${reply.text}`).toBe(200);
    return reply.body.data;
  };
  const post = (path: string, body: unknown) => ok('POST', path, body);
  const { queue, dlq, collection, channel } = names;
  const video = await post('/v1/video/generate', { ...QUICK, prompt: `${mark}-video` });
  const image = await post('/v1/image/generate', {
    prompt: `${mark}-image`,
    model: 'sandbox/card-1',
    size: '256x256',
    n: 2,
  });
  await ok('PUT', '/v1/account/budget/set', { period: 'daily', hard_cap_usd: 7.25 });
  const key = await post('/v1/account/keys/create', {
    name: `${mark}-key`,
    scopes: ['queue:write'],
    spend_cap_usd: 1.75,
    spend_cap_period: 'daily',
  });
  await post('/v1/queue/create', { name: dlq });
  await post('/v1/queue/create', { name: queue, dead_letter_queue: dlq, max_retries: 1 });
  for (let n = 0; n < 3; n += 1) await post('/v1/queue/publish', { queue, payload: { text: `${mark}-queue`, n } });
  const { items } = await post('/v1/queue/consume', { queue, max_messages: 2 });
  for (const { receipt_handle } of items) await post('/v1/queue/nack', { queue, receipt_handle });
  await post(`/v1/queue/dlq/redrive/${queue}`, { message_ids: [items[0].message_id] });
  const fields = { level: 'error', environment: 'production', user_id: `${mark}-user` };
  const group = await post('/v1/errors/capture', { title: `${mark}-errors`, ...fields });
  await post('/v1/errors/capture', { title: `${mark}-errors`, ...fields });
  const kept = await fillTelemetry(post, mark, names);
  await fillVectors(post, mark, collection);
  const webhook = await post('/v1/account/webhooks/register', {
    url: receiver,
    events: ['queue.dlq'],
    description: `${mark}-account`,
  });
  await post(`/v1/account/webhooks/test/${webhook.webhook_id}`, {});
  const received = await post('/v1/account/webhooks/receive/create', {
    name: `${mark}-receiver`,
    verify: { scheme: 'github' },
    to: { queue },
  });
  await post(`/v1/account/webhooks/receive/test/${received.receiver_id}`, { event: 'push' });
  const schedule = await post('/v1/cron/create', { name: `${mark}-cron`, task: receiver, cron_expr: '0 9 * * *' });
  const { bucket, object } = await fillStorage(post, mark, names);
  const email = await fillEmail(ok, mark, names);
  const sms = await fillSms(post, mark);
  await post('/v1/captcha/verify', { payload: 'bm90IGEgc29sdXRpb24=', action: 'signup' });
  await fillRisk(ok, mark);
  const zone = await fillDns(ok, mark, names);
  const flag = await fillFlags(ok, mark, names);
  await fillRealtime(ok, mark, names);
  await fillVault(ok, names);
  await fillAlerts(ok, mark, names);
  const crawl = await post('/v1/web/crawl', { url: `${(await exampleSite()).url}/keys`, limit: 2, depth: 1 });
  await leaveCard((await post('/v1/account/payment_method/attach', {})).checkout_url);
  const [card] = (await ok('GET', '/v1/account/payment_method/list')).items;
  await post('/v1/ai/chat', { model: 'sandbox/echo-1', messages: [{ role: 'user', content: `${mark}-ai` }] });
  const refused = await call('POST', '/v1/queue/publish', { queue, payload: `${mark}-request` });
  expect(refused.status).toBe(400);
  await eventually(async () => (await ok('GET', `/v1/video/get/${video.job_id}`)).finished_at !== null);
  await eventually(async () => (await ok('GET', `/v1/image/get/${image.job_id}`)).finished_at !== null);
  await eventually(async () => (await ok('GET', `/v1/web/crawl/get/${crawl.crawl_id}`)).status !== 'running');
  return {
    queue,
    dlq,
    collection,
    schedule: schedule.job_id,
    webhook: webhook.webhook_id,
    receiver: received.receiver_id,
    group: group.error_group_id,
    video: video.job_id,
    image: image.job_id,
    key: key.key_id,
    card: card.payment_method_id,
    request: refused.body.error.request_id,
    bucket,
    object,
    ...email,
    sms,
    zone,
    flag,
    crawl: crawl.crawl_id,
    channel,
    approval: await fillApprovals(call, ok, mark, names),
    rule: names.rule,
    connection: names.connection,
    provider: PROVIDER,
    alert: names.alert,
    person: `${mark}-analytics`,
    ...kept,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Ok = (method: string, path: string, body?: unknown) => Promise<any>;

/** Samples, events, what is kept of both by name, and a log record of each level. */
async function fillTelemetry(post: (path: string, body: unknown) => ReturnType<Ok>, mark: string, { metric }: Names) {
  await post('/v1/metrics/ingest', {
    items: [1, 2].map((value) => ({ name: metric, value, labels: { mark: `${mark}-metrics ${value}` } })),
  });
  await post('/v1/analytics/capture', {
    items: ['signed_up', 'plan_chosen'].map((event) => ({ event, distinct_id: `${mark}-analytics` })),
  });
  const panels = [metric, 'none_of_this', 'sum('].map((query) => ({
    title: `${mark}-panel`,
    query,
    unit: 'ms',
  }));
  const { dashboard_id: dashboard } = await post('/v1/metrics/dashboard/create', { name: `${mark}-board`, panels });
  const { question_id: question } = await post('/v1/analytics/question/create', {
    name: `${mark}-question`,
    funnel: { steps: [{ event: 'signed_up' }, { event: 'plan_chosen' }] },
  });
  const trace = '5b8efff798038103d269b633813fc60c';
  await post('/v1/logs/ingest', {
    items: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level, i) => ({
      level,
      service: `${mark}-service`,
      message: `${mark}-logs ${i}`,
      trace_id: i === 4 ? trace : null,
      attributes: { provider: 'acme', attempt: i, nested: { of: [1, null] }, empty: '' },
    })),
  });
  return { dashboard: String(dashboard), question: String(question) };
}

async function fillVectors(post: (path: string, body: unknown) => Promise<unknown>, mark: string, collection: string) {
  await post('/v1/vector/collection/create', { collection, dimension: 3 });
  await post('/v1/vector/upsert', {
    collection,
    vectors: [{ id: `${mark}-vector`, embedding: [1, 0.5, 0], metadata: { n: 1 } }],
  });
}

async function fillStorage(
  post: (path: string, body: unknown) => Promise<unknown>,
  mark: string,
  { bucket, folder }: Names,
) {
  const object = `${folder}/${mark}-storage.txt`;
  await post('/v1/storage/bucket/create', { bucket });
  await post('/v1/storage/object/put', { bucket, key: object, content: 'Hello', metadata: { author: 'somebody' } });
  await post('/v1/storage/object/put', { bucket, key: 'readme.md', content: '# Files' });
  await post('/v1/storage/share/create', { bucket, key: object, downloads_max: 3 });
  return { bucket, object };
}

async function fillEmail(ok: Ok, mark: string, { label }: Names): Promise<FilledEmail> {
  // Read backwards it is reserved too, so that no name server is asked for it.
  const domain = `tset.mail${label}.test`;
  await ok('POST', '/v1/email/domain/verify', { domain });
  await ok('POST', '/v1/email/suppression/add', { address: 'grace@example.org' });
  // An address exists once in the service.
  const address = `agent-${label}${randomBytes(4).toString('hex')}@inbox.test`;
  const { inbox_id } = await ok('POST', '/v1/email/inbox/create', { address });
  const { email_id } = await ok('POST', '/v1/email/send', {
    from: 'Billing <billing@example.com>',
    to: ['ada@example.org', address],
    cc: 'grace@example.org',
    subject: `${mark}-email`,
    text: 'Your invoice is in your account.',
    tags: ['invoice'],
    html: '<h1 style="color:#0b62c6">Invoice 7</h1><p>Your invoice is in your <b>account</b>.</p>',
    attachments: [{ filename: 'invoice.csv', content_base64: 'YSxiCjEsMgo=', content_type: 'text/csv' }],
  });
  const receiveMail = () => ok('GET', `/v1/email/inbox/messages/${inbox_id}?wait_seconds=10`);
  await eventually(async () => (await receiveMail()).items.length > 0);
  const [{ inbound_id }] = (await receiveMail()).items;
  return { email_id, domain, inbox_id, inbound_id };
}

/** Messages in every state, and a code. Answers the id of one. */
async function fillSms(
  post: (path: string, body: unknown) => Promise<{ readonly sms_id: string }>,
  mark: string,
): Promise<string> {
  const { sms_id: id } = await post('/v1/sms/send', { to: '+12025550170', text: `${mark}-sms` });
  await post('/v1/sms/send', { to: '+12025550000', text: 'This one fails.' });
  await post('/v1/sms/sandbox/inbound', { from: '+12025550170', text: 'Thanks!' });
  await post('/v1/sms/verify/start', { to: '+12025550171' });
  return id;
}

/** A decision of each action, an entry of each list, and rules. */
async function fillRisk(ok: Ok, mark: string): Promise<void> {
  const user_id = `${mark}-risk`;
  await ok('POST', '/v1/risk/list/add', { list: 'block', kind: 'user', value: user_id, note: 'chargeback' });
  await ok('POST', '/v1/risk/list/add', { list: 'allow', kind: 'cidr', value: '203.0.113.0/24' });
  await ok('POST', '/v1/risk/score', { event: 'payment', user_id, amount_usd: 40 });
  await ok('POST', '/v1/risk/score', { event: 'signup', email: 'joe@mailinator.com', ip: '198.51.100.7' });
  await ok('POST', '/v1/risk/score', { event: 'login', user_id, ip: '203.0.113.7', device_id: 'phone' });
}

/** A flag with rules and a history, one that is off, and one with a rule that the form does not show. Answers the key of the first. */
async function fillFlags(ok: Ok, mark: string, { flag: key }: Names): Promise<string> {
  const flag = { type: 'boolean', variants: { on: true, off: false }, default_variant: 'off' };
  const targeting = {
    if: [
      { ends_with: [{ var: 'email' }, '@example.org'] },
      'on',
      {
        fractional: [
          ['on', 25],
          ['off', 75],
        ],
      },
    ],
  };
  await ok('POST', '/v1/flags/create', { key, ...flag, targeting, description: `${mark}-flags` });
  await ok('PATCH', `/v1/flags/update/${key}`, { metadata: { team: 'web' } });
  await ok('POST', '/v1/flags/create', { key: 'checkout-off', ...flag, enabled: false });
  await ok('POST', '/v1/flags/create', { key: 'by-hand', ...flag, targeting: { or: [{ var: 'beta' }, 'off'] } });
  return key;
}

/** Messages of a presence channel. Nobody is subscribed to it. */
async function fillRealtime(ok: Ok, mark: string, { channel }: Names): Promise<void> {
  const publish = (event: string, data: unknown) =>
    ok('POST', '/v1/realtime/publish', { channel, event, data, user_id: `${mark}-realtime` });
  await publish('message', { text: `${mark}-realtime`, nested: [1, null] });
  await publish('typing', null);
}

/** A call that waits. The rule binds all keys, and is about what nothing calls any more. Answers its id. */
async function fillApprovals(call: Client, ok: Ok, mark: string, { rule }: Names): Promise<string> {
  const set = { capabilities: ['image.generate'], when: { cost_usd_above: 0 }, reason_required: true };
  await ok('PUT', `/v1/account/approvals/rule/${rule}`, set);
  const input = { prompt: `${mark}-approval`, model: 'sandbox/card-1', size: '256x256' };
  const { status, body } = await call('POST', '/v1/image/generate', input);
  expect([status, body.error?.code]).toEqual([403, 'APPROVAL_REQUIRED']);
  return body.error.approval.approval_id;
}

/** A connection with a rule of its own, one that expires, and calls that were answered and refused by their target. */
async function fillVault(ok: Ok, { connection }: Names): Promise<void> {
  const url = new URL((await exampleSite()).url);
  const set = {
    kind: 'header',
    field: 'X-Api-Key',
    secret: 'a secret of the site',
    hosts: [url.host, '*.example.org'],
  };
  await ok('PUT', '/v1/vault/connection/set', {
    ...set,
    connection,
    allow: [
      { methods: ['GET', 'POST'], path: '/repos/*/issues' },
      { methods: ['GET'], path: '/*' },
    ],
    headers: { 'X-Version': '7' },
    limits: { per_minute: 60, per_day: 1_000 },
    approve: ['DELETE'],
  });
  await ok('PUT', '/v1/vault/connection/set', {
    connection: 'expired',
    kind: 'bearer',
    secret: set.secret,
    hosts: ['api.github.com'],
    expires_at: '2026-01-01T00:00:00Z',
  });
  await ok('PUT', '/v1/vault/provider/set', {
    provider: PROVIDER,
    authorization_url: 'https://github.com/login/oauth/authorize',
    token_url: 'https://github.com/login/oauth/access_token',
    client_id: 'Iv1.8a61f9b3a7aba766',
    scopes: ['repo'],
  });
  for (const path of ['/keys', '/none']) await ok('POST', '/v1/vault/call', { connection, url: path });
}

/** A rule that fires. Whom it told would be paid for at some time. */
async function fillAlerts(ok: Ok, mark: string, { alert }: Names): Promise<void> {
  await ok('PUT', '/v1/alerts/rule/set', {
    rule: alert,
    title: `${mark}-alerts`,
    when: { logs: { level: 'error' } },
    above: 0,
    by: ['service'],
    severity: 'critical',
    labels: { team: `${mark}-team` },
    runbook_url: 'https://example.com/runbook',
  });
}

/** A zone with records. It exists once in the service. */
async function fillDns(ok: Ok, mark: string, { label }: Names): Promise<string> {
  const zone = `zone-${label}${randomBytes(4).toString('hex')}.test`;
  await ok('POST', '/v1/dns/zone/create', { zone });
  const set = (name: string, type: string, values: readonly string[]) =>
    ok('PUT', '/v1/dns/record/set', { zone, name, type, values });
  // What begins with a quote would be quoted text.
  await set('@', 'TXT', [`of ${mark}-dns`]);
  await set('www', 'A', ['192.0.2.1', '192.0.2.2']);
  return zone;
}

/** The address of the page, with what it is about put in. The operator's pages are another account's. */
export function addressOf({ path }: Pick<ConsolePage, 'path'>, filled: Filled): string {
  const rooms: Readonly<Record<string, string>> = {
    queues: filled.queue,
    errors: filled.group,
    vectors: filled.collection,
    schedules: filled.schedule,
    webhooks: path.startsWith('/webhooks/receivers') ? filled.receiver : filled.webhook,
    video: filled.video,
    images: filled.image,
    keys: filled.key,
    approvals: path.startsWith('/approvals/rules') ? filled.rule : filled.approval,
    wallet: filled.card,
    requests: filled.request,
    storage: filled.bucket,
    sms: filled.sms,
    dns: filled.zone,
    web: filled.crawl,
    flags: filled.flag,
    analytics: path.startsWith('/analytics/questions') ? filled.question : encodeURIComponent(filled.person),
    metrics: filled.dashboard,
    realtime: filled.channel,
    vault: path.startsWith('/vault/providers') ? filled.provider : filled.connection,
    alerts: filled.alert,
  };
  const query = /^\/storage\/\{bucket\}\/(delete-)?object$/.test(path)
    ? `?${new URLSearchParams({ key: filled.object })}`
    : path === '/risk/subject'
      ? '?by=device_id&value=phone'
      : '';
  const [, room = ''] = path.split('/');
  return `/console${path.replace(/\{(\w+)\}/, (_, parameter: string) => {
    const name = room === 'email' ? filled[parameter as keyof FilledEmail] : rooms[room];
    if (name === undefined) throw new Error(`the filled account has nothing for ${path}`);
    return name;
  })}${query}`;
}
