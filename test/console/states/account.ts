// The pages of an account: empty, filled, seen by who may only look, with panels that fail, short of money, and in answer to a form.
import { expect } from 'vitest';
import { personSession } from '../../support/console.ts';
import { pages } from '../../support/console-pages.ts';
import { addressOf, type Filled, fillAccount } from '../../support/filled-account.ts';
import { client, createTestAccount, type TestAccount } from '../../support/service.ts';
import { exampleSite } from '../../support/site.ts';
import { act, type Scene, type State, sessionOf } from './state.ts';

const own = pages.filter(({ needs }) => !needs.id.startsWith('operator.'));
const UNKNOWN = 'none_1111111111111111111111';

export interface FilledAccount {
  readonly account: TestAccount;
  readonly filled: Filled;
  /** The session of a person who owns it. */
  readonly owner: string;
  /** That of an API key, for what a key signs. */
  readonly byKey: string;
  /** A page of the outside world. */
  readonly site: string;
}

export async function filledAccount({ service, receiver, mark, names }: Scene): Promise<FilledAccount> {
  const account = await createTestAccount(service.core, 9.5);
  const filled = await fillAccount(client(service.url, account.secret), receiver, mark, names);
  const person = { accountId: account.accountId, email: 'owner@example.org', name: mark, role: 'owner' } as const;
  const site = `${(await exampleSite()).url}/keys`;
  const [owner, byKey] = await Promise.all([personSession(service.core, person), sessionOf(service, account)]);
  return { account, filled, site, owner, byKey };
}

export async function emptyStates({ service }: Scene): Promise<readonly State[]> {
  const by = await sessionOf(service, await createTestAccount(service.core, 5));
  return own.flatMap(({ name, path, nav }) =>
    nav === undefined ? [] : [{ name: `empty-${name}`, path: `/console${path}`, by }],
  );
}

/** What writes and shows nothing: its page is looked at by an owner alone. */
const WRITES = /\/(delete|publish|purge|revoke|leaked|remove|transform|realtime\/app|sms\/inbound|delete-object\?.*)$/;

/** Of each page: for an owner, for a viewer, and for a key that may see the page and nothing that it reads beyond. */
export async function filledStates({ service, mark }: Scene, { account, filled, owner }: FilledAccount) {
  const shown = own.filter((page) => !WRITES.test(addressOf(page, filled)));
  const scopes = [...new Set(shown.map(({ needs }) => needs.id))];
  const call = client(service.url, account.secret);
  const { key_secret: secret } = (await call('POST', '/v1/account/keys/create', { name: mark, scopes })).body.data;
  const narrow = await sessionOf(service, { secret });
  const person = { accountId: account.accountId, email: 'viewer@example.org', name: mark, role: 'viewer' } as const;
  const viewer = await personSession(service.core, person);
  return own.flatMap((page): State[] => {
    const path = addressOf(page, filled);
    const seen = { name: `filled-${page.name}`, path, by: owner };
    if (WRITES.test(path)) return [seen];
    return [
      seen,
      { name: `viewer-${page.name}`, path, by: viewer },
      // A key that may not read the account sees the approvals of its own calls alone.
      { name: `failing-${page.name}`, path, by: narrow, status: page.name === 'approval' ? 404 : 200 },
    ];
  });
}

const LISTS = [
  '/events',
  '/requests',
  '/audit',
  '/errors',
  '/logs',
  '/queues',
  '/keys',
  '/schedules',
  '/video',
  '/email',
  '/dns',
  '/flags',
  '/risk',
  '/risk/lists',
  '/web/crawls',
  '/realtime',
];

const telemetryViews: Readonly<Record<string, string>> = {
  'errors-nothing': '/errors?query=none',
  'logs-nothing': '/logs?q=none',
  'metrics-graph': '/metrics?query=filled_metric&period=1h',
  'metrics-nothing': '/metrics?query=none_of_this',
  'metrics-fields': '/metrics?metric=filled_metric&fn=rate&agg=sum&by=mark',
  'metrics-edited': '/metrics?metric=filled_metric&query=max(filled_metric)',
  'metrics-wrong': '/metrics?query=sum(',
  'new-dashboard': '/metrics/dashboards?new=1',
  'analytics-funnel': '/analytics?ask=funnel&step=signed_up&step=plan_chosen',
  'analytics-funnel-none': '/analytics?ask=funnel',
  'analytics-retention': '/analytics?ask=retention',
  'logs-paused': '/logs?to=2099-01-01T00:00',
  'logs-filtered':
    '/logs?q=logs&level=error&filter.provider=acme&trace_id=5b8efff798038103d269b633813fc60c&from=2026-01-01T00%3A00%3A00Z',
  'logs-around': `/logs?around=${encodeURIComponent(new Date().toISOString())}`,
};

/** Filters, other periods, and lists that cannot be read. */
export function otherViews({ filled, owner: by }: FilledAccount): readonly State[] {
  const views: Readonly<Record<string, string>> = {
    'new-key': '/keys?new=1',
    'new-webhook': '/webhooks?new=1',
    'new-receiver': '/webhooks/receivers?new=1',
    'new-receiver-stripe': '/webhooks/receivers?new=1&sender=stripe',
    'new-receiver-hmac': '/webhooks/receivers?new=1&sender=hmac',
    'new-collection': '/vectors?new=1',
    'new-schedule': '/schedules?new=1',
    'new-queue': '/queues?new=1',
    'new-bucket': '/storage?new=1',
    'new-sms': '/sms?new=1',
    'captcha-try': '/captcha?difficulty=easy',
    'new-zone': '/dns?new=1',
    'new-flag': '/flags?new=1',
    'flag-tried': `/flags/${filled.flag}?context=${encodeURIComponent('{"targetingKey": "u", "email": "a@example.org"}')}`,
    'flag-by-hand': '/flags/by-hand',
    'risk-blocked': '/risk?action=block',
    'new-risk-entry': '/risk/lists?new=1',
    'risk-nobody': '/risk/subject?by=user_id&value=nobody',
    'new-panel': `/metrics/dashboards/${filled.dashboard}?new=1&query=filled_metric`,
    'panel-changed': `/metrics/dashboards/${filled.dashboard}?edit=0`,
    'new-record': `/dns/${filled.zone}?new=1`,
    'dns-answer': '/dns/lookup?name=www.example.org&type=MX',
    'realtime-nothing': '/realtime?prefix=none',
    'realtime-channel-nothing': '/realtime/channels/none',
    'new-crawl': '/web/crawls?new=1',
    'new-email': '/email?new=1',
    'email-text': `/email/sent/${filled.email_id}?view=text`,
    'email-source': `/email/sent/${filled.email_id}?view=source`,
    'email-nothing': '/email?status=bounced',
    'new-inbox': '/email/inboxes?new=1',
    'new-domain': '/email/domains?new=1',
    'new-suppression': '/email/suppressions?new=1',
    'new-object': `/storage/${filled.bucket}?new=1`,
    'storage-folder': `/storage/${filled.bucket}?prefix=reports%2F`,
    'storage-nothing': `/storage/${filled.bucket}?prefix=none%2F`,
    'new-subscription': `/queues/${filled.queue}/push?new=1`,
    'queue-of-an-hour': `/queues/${filled.queue}?period=1h`,
    'usage-by-key': '/usage?period=24h&by=key&figure=calls',
    'usage-of-one': '/usage?capability=queue.publish&step=day',
    'usage-nothing': '/usage?period=custom&from=2020-01-01&to=2020-02-01',
    'overview-nothing': '/?period=custom&from=2020-01-01&to=2020-02-01',
    ...telemetryViews,
    'requests-nothing': '/requests?code=NONE',
    'requests-all': '/requests?outcome=all',
    'deliveries-nothing': `/webhooks/${filled.webhook}?status=pending`,
  };
  const failing = [...LISTS, `/queues/${filled.queue}/dlq`];
  return [
    ...Object.entries(views).map(([name, path]) => ({
      name: `view-${name}`,
      path: `/console${path}`.replace('/?', '?'),
      by,
    })),
    ...failing.map((path) => ({
      name: `unreadable-${path.slice(1)}`,
      path: `/console${path}?cursor=none`,
      by,
      says: 'INVALID_CURSOR',
    })),
  ];
}

/** The pages that tell money, for who has little of it or may spend none. */
export async function moneyStates({ service }: Scene): Promise<readonly State[]> {
  const { core } = service;
  const spender = async (usd: number) => {
    const account = await createTestAccount(core, usd);
    const call = client(service.url, account.secret);
    await call('POST', '/v1/queue/create', { name: 'jobs' });
    expect((await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} })).status).toBe(200);
    return { account, call, by: await sessionOf(service, account) };
  };
  const [low, frozen, over] = await Promise.all([spender(0.5), spender(5), spender(5)]);
  const freeze = `UPDATE core.wallet SET frozen_reason = 'dispute' WHERE account_id = $1`;
  await core.db.query({ name: 'test_freeze', text: freeze }, [frozen.account.accountId]);
  await over.call('PUT', '/v1/account/budget/set', {
    period: 'daily',
    hard_cap_usd: 0.000001,
    alert_threshold_usd: 0.0000005,
  });
  const publish = { path: '/console/queues/jobs/publish', status: 402, form: act('publish', { payload: '{}' }) };
  return [
    { name: 'low-overview', path: '/console', by: low.by, says: 'The balance is low' },
    { name: 'low-wallet', path: '/console/wallet', by: low.by, says: 'low' },
    { name: 'frozen-overview', path: '/console', by: frozen.by, says: 'The wallet is frozen' },
    { name: 'frozen-wallet', path: '/console/wallet', by: frozen.by, says: 'frozen' },
    { name: 'frozen-publish', by: frozen.by, ...publish, says: 'INSUFFICIENT_CREDIT' },
    { name: 'over-budget-overview', path: '/console', by: over.by, says: 'The budget is used up' },
    { name: 'over-budget-wallet', path: '/console/wallet', by: over.by, says: 'The budget is used up' },
    { name: 'over-budget-publish', by: over.by, ...publish, says: 'Raise the budget' },
  ];
}

/** Acts of forms that are pages of their own. */
const NEW = new Set(['create', 'quote', 'add']);

type Sent = readonly [path: string, act: string, fields: Readonly<Record<string, string>>];

const VIDEO = { prompt: 'A boat.', duration_seconds: '1', model: 'sandbox/storyboard-1' };

function refusedForms({
  queue,
  key,
  group,
  schedule,
  webhook,
  receiver,
  collection,
  bucket,
  dashboard,
}: FilledAccount['filled']): readonly Sent[] {
  return [
    ['/queues', 'create', { name: 'no name' }],
    [`/queues/${queue}/publish`, 'publish', { payload: 'no JSON', delay_seconds: 'x' }],
    [`/queues/${queue}/settings`, 'update', { max_retries: 'many' }],
    [`/queues/${queue}/purge`, 'purge', { typed: 'another' }],
    [`/queues/${queue}/dlq`, 'redrive_all', { rate_per_second: 'x' }],
    ['/keys', 'create', { scopes: 'no-such:scope', spend_cap_usd: 'much' }],
    [`/keys/${key}`, 'narrow', { spend_cap_usd: '-1' }],
    [`/keys/${key}/revoke`, 'revoke', { typed: 'another' }],
    [`/errors/${group}`, 'comment', { text: '' }],
    ['/logs/settings', 'set', { retention_days: 'long' }],
    ['/metrics/settings', 'set', { retention_days: 'long' }],
    ['/analytics/settings', 'set', { retention_days: 'long' }],
    ['/metrics/dashboards', 'create', { name: '' }],
    [`/metrics/dashboards/${dashboard}`, 'add', { panels: '[]', title: '', query: 'x' }],
    ['/analytics', 'save', { name: '', question: '{"trends":{}}' }],
    ['/vectors', 'create', { collection: 'no name', dimension: '0' }],
    [`/vectors/${collection}/query`, 'query', { embedding: '1 0' }],
    ['/schedules', 'create', { cron_expr: 'never', task: 'no address' }],
    [`/schedules/${schedule}/settings`, 'update', { cron_expr: 'never' }],
    ['/webhooks', 'create', { url: 'no address' }],
    ['/webhooks/receivers', 'create', { sender: 'stripe', name: 'x', queue: 'jobs' }],
    [`/webhooks/receivers/${receiver}/settings`, 'update', { name: 'x', queue: 'jobs', json: '[' }],
    [`/webhooks/${webhook}/settings`, 'update', { url: 'ftp://example.org' }],
    ['/video', 'quote', { ...VIDEO, duration_seconds: 'x' }],
    ['/ai', 'chat', { max_completion_tokens: '0' }],
    ['/pdf', 'create', { content: '' }],
    ['/realtime/settings', 'set', { history_seconds: 'long' }],
    ['/realtime/app', 'rotate', { grace_hours: '0' }],
    ['/realtime/channels/orders', 'publish', { event: 'created', data: '{' }],
    ['/web', 'read', { url: 'ftp://example.org' }],
    ['/web/crawls', 'create', { url: 'ftp://example.org', limit: 'many' }],
    ['/storage', 'create', { bucket: 'No' }],
    [`/storage/${bucket}/settings`, 'settings', { expire: 'soon' }],
    [`/storage/${bucket}/settings`, 'settings', { 'cors-0-origins': 'https://a.test/', 'cors-0-GET': 'on' }],
    [`/storage/${bucket}/upload-link`, 'link', { prefix: '', bytes_max: 'many' }],
    ['/wallet', 'topup', { amount_usd: '0' }],
    ['/wallet', 'budget', { hard_cap_usd: 'x' }],
    ['/account', 'rename', { name: 'x'.repeat(1_000) }],
    ['/account', 'bind', { email: 'no address' }],
  ];
}

function answeredForms({
  filled: { collection, bucket, object },
  site,
}: Pick<FilledAccount, 'filled' | 'site'>): readonly (readonly [...Sent, says: string])[] {
  const stored = `/storage/${bucket}/object?${new URLSearchParams({ key: object })}`;
  return [
    ['/keys', 'create', { name: 'shown once', scopes: 'queue:read' }, 'shown'],
    ['/video', 'quote', VIDEO, 'Generate video'],
    ['/ai', 'chat', { prompt: 'Hello.', model: 'sandbox/echo-1', max_completion_tokens: '50' }, '[sandbox]'],
    [stored, 'read', {}, 'Hello'],
    [stored, 'share', {}, 'Link created'],
    [`/storage/${bucket}/upload-link`, 'link', { prefix: 'in/', expires_seconds: '' }, 'enctype'],
    ['/pdf', 'create', { type: 'html', content: '<p style="display: flex">Hi</p>', size: 'A4' }, 'Open the PDF'],
    ['/web', 'read', { url: site, format: 'markdown' }, 'A key is shown once'],
    ['/wallet', 'topup', { amount_usd: '10' }, 'Continue to the payment page'],
    ['/realtime/app', 'show', {}, 'Keep it on servers'],
    [`/vectors/${collection}/query`, 'query', { embedding: '1 0 0', top_k: '3' }, 'compared ('],
    ['/account', 'routing_test', { capability: 'ai.chat' }, 'sandbox'],
  ];
}

/** What is answered to a form: what it was refused for, and what is shown once. */
export function answeredStates({ filled, site, owner, byKey }: FilledAccount): readonly State[] {
  const byWhom = (path: string) => (path.endsWith('/upload-link') ? byKey : owner);
  const name = (path: string, of: string) =>
    `${path
      .replace(/\?.*/, '')
      .replaceAll(/\/[a-z]+_\w+/g, '')
      .slice(1)}-${of}`;
  return [
    ...refusedForms(filled).map(([path, of, fields]) => ({
      name: `refused-${name(path, of)}-${Object.keys(fields)[0]}`,
      path: `/console${path}${NEW.has(of) ? '?new=1' : ''}`,
      by: byWhom(path),
      status: 400,
      form: act(of, fields),
    })),
    ...answeredForms({ filled, site }).map(([path, of, fields, says]) => ({
      name: `answer-${name(path, of)}`,
      path: `/console${path}${NEW.has(of) ? '?new=1' : ''}`,
      by: byWhom(path),
      form: act(of, fields),
      says,
    })),
  ];
}

/** What is not there, and what the visitor may not see. */
export async function missingStates(
  { service }: Scene,
  { account, owner: by }: FilledAccount,
): Promise<readonly State[]> {
  const call = client(service.url, account.secret);
  const made = await call('POST', '/v1/account/keys/create', { name: 'one', scopes: ['queue:read'] });
  const narrow = await sessionOf(service, { secret: made.body.data.key_secret });
  const rooms = ['queues', 'errors', 'vectors', 'schedules', 'webhooks', 'video', 'keys', 'storage'];
  return [
    { name: 'no-page', path: '/console/none', by, status: 404, says: 'begin at the Console' },
    ...rooms.map((room) => ({ name: `no-${room}`, path: `/console/${room}/${UNKNOWN}`, by, status: 404 })),
    ...['wallet', 'vectors', 'operator'].map((room) => ({
      name: `forbidden-${room}`,
      path: `/console/${room}`,
      by: narrow,
      status: 403,
      says: 'scope',
    })),
  ];
}
