// The list of guides: files of docs/ that are published on the site, and CONTRIBUTING.md.

export const guideGroups = ['Build', 'Account', 'Connect', 'Run it', 'Operate', 'Contribute'] as const;

export interface Guide {
  /** Of its page, /docs/guides/{name}, and of its file, docs/{folder}{name}.md, where no other is named. */
  readonly name: string;
  readonly folder?: 'deploy/';
  /** From the repository's root. */
  readonly file?: string;
  /** Its first heading. */
  readonly title: string;
  readonly summary: string;
  readonly group: (typeof guideGroups)[number];
  /** How the ids of capabilities begin that it is about. */
  readonly about?: readonly string[];
}

export const guides: readonly Guide[] = [
  {
    name: 'queues',
    title: 'Queues',
    group: 'Build',
    about: ['queue'],
    summary: 'Messages that stay until a worker acknowledges them.',
  },
  {
    name: 'schedules',
    title: 'Schedules',
    group: 'Build',
    about: ['cron'],
    summary: 'A signed POST by a cron expression, or once.',
  },
  {
    name: 'vectors',
    title: 'Vectors',
    group: 'Build',
    about: ['vector'],
    summary: 'Embeddings, found by similarity and by metadata.',
  },
  {
    name: 'errors',
    title: 'Errors',
    group: 'Build',
    about: ['errors'],
    summary: 'Exceptions of your programs, grouped and searchable.',
  },
  {
    name: 'logs',
    title: 'Logs',
    group: 'Build',
    about: ['logs'],
    summary: 'Log records by OpenTelemetry, Loki or a call, searched and counted.',
  },
  {
    name: 'metrics',
    title: 'Metrics',
    group: 'Build',
    about: ['metrics'],
    summary: 'Series of numbers by OpenTelemetry, Prometheus or a call, asked by PromQL.',
  },
  {
    name: 'analytics',
    title: 'Analytics',
    group: 'Build',
    about: ['analytics'],
    summary: "Events and people by PostHog's clients or a call: trends, funnels, retention.",
  },
  {
    name: 'flags',
    title: 'Feature flags',
    group: 'Build',
    about: ['flags'],
    summary: 'Features on for some users or a share of them, for every OpenFeature SDK.',
  },
  {
    name: 'ai',
    title: 'Language models',
    group: 'Build',
    about: ['ai', 'account.routing'],
    summary: 'Chats, embeddings and batches of many vendors.',
  },
  {
    name: 'realtime',
    title: 'Realtime',
    group: 'Build',
    about: ['realtime'],
    summary: 'Events to browsers by channels: Pusher clients, Server-Sent Events, presence.',
  },
  {
    name: 'video',
    title: 'Videos',
    group: 'Build',
    about: ['video'],
    summary: 'Videos from a prompt, as jobs in the background.',
  },
  {
    name: 'image',
    title: 'Images',
    group: 'Build',
    about: ['image'],
    summary: 'Thumbnails, crops and other formats.',
  },
  {
    name: 'storage',
    title: 'Storage',
    group: 'Build',
    about: ['storage'],
    summary: 'Objects in buckets, links for people, expiry, S3.',
  },
  {
    name: 'web',
    title: 'Web pages',
    group: 'Build',
    about: ['web'],
    summary: 'Pages as Markdown or JSON, the pages of a site, search.',
  },
  {
    name: 'pdf',
    title: 'PDFs',
    group: 'Build',
    about: ['pdf'],
    summary: 'PDFs from HTML and Markdown; merge, split, fill, read.',
  },
  {
    name: 'email',
    title: 'Email',
    group: 'Build',
    about: ['email'],
    summary: 'Mail from your domain, bounces, inboxes for agents.',
  },
  {
    name: 'sms',
    title: 'SMS',
    group: 'Build',
    about: ['sms'],
    summary: 'Text messages, answers of people, and codes by phone.',
  },
  {
    name: 'rtc',
    title: 'Calls',
    group: 'Build',
    about: ['rtc'],
    summary: 'Audio and video by LiveKit, or from browser to browser.',
  },
  {
    name: 'captcha',
    title: 'Captcha',
    group: 'Build',
    about: ['captcha'],
    summary: "Forms that cost their sender processor time, by ALTCHA's widget.",
  },
  {
    name: 'risk',
    title: 'Risk',
    group: 'Build',
    about: ['risk'],
    summary: 'Scores of sign-ups, logins and payments, by your rules and traffic.',
  },
  {
    name: 'dns',
    title: 'DNS',
    group: 'Build',
    about: ['dns'],
    summary: 'Zones and records, look-ups, certificates by ACME.',
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    group: 'Build',
    about: ['account.webhooks', 'account.events'],
    summary: 'Signed events, sent to a URL of yours.',
  },
  {
    name: 'webhooks-in',
    title: 'Webhooks in',
    group: 'Build',
    about: ['account.webhooks.receive'],
    summary: 'Webhooks of other services, verified, into a queue or channel.',
  },
  {
    name: 'approvals',
    title: 'Approvals',
    group: 'Account',
    about: ['account.approvals'],
    summary: 'A person decides before an agent does what is dear or final.',
  },
  {
    name: 'alerts',
    title: 'Alerts',
    group: 'Build',
    about: ['alerts'],
    summary: 'Who is told when logs, metrics, errors, spending or queues go beyond a bound.',
  },
  {
    name: 'vault',
    title: 'Vault',
    group: 'Build',
    about: ['vault'],
    summary: 'Calls to other services with credentials that agents never see.',
  },
  {
    name: 'keys',
    title: 'Keys and money',
    group: 'Build',
    about: ['account'],
    summary: 'Scopes, spend caps, budgets and the wallet.',
  },
  {
    name: 'requests',
    title: 'Request log',
    group: 'Build',
    about: ['account.requests'],
    summary: 'What your programs called, and what failed.',
  },
  {
    name: 'money',
    title: 'Money',
    group: 'Account',
    about: ['account.balance', 'account.budget', 'account.ledger', 'account.usage'],
    summary: 'The wallet, budgets, and what happens when credit runs out.',
  },
  { name: 'prices', title: 'Prices', group: 'Account', summary: 'What each operation costs.' },
  {
    name: 'limits',
    title: 'Limits',
    group: 'Account',
    summary: 'Rates, timeouts, sizes, and how long things are kept.',
  },
  {
    name: 'deleting-data',
    title: "Delete a person's data",
    group: 'Account',
    about: ['account.export', 'account.delete'],
    summary: 'Which call removes what you hold about a person.',
  },
  { name: 'addresses', title: 'Addresses', group: 'Connect', summary: 'Where to point clients of other services.' },
  { name: 'mcp', title: 'MCP', group: 'Connect', summary: 'Everything as tools, for agents.' },
  {
    name: 'anthropic',
    title: "Claude Code and Anthropic's clients",
    group: 'Connect',
    summary: 'Messages by any model, by changing the base URL.',
  },
  {
    name: 's3',
    title: 'Clients of Amazon S3',
    group: 'Connect',
    summary: 'The AWS SDKs, boto3, rclone and restic on your buckets.',
  },
  {
    name: 'sqs',
    title: 'Clients of Amazon SQS',
    group: 'Connect',
    summary: 'The AWS SDKs, boto3 and Celery on your queues.',
  },
  { name: 'sentry', title: 'Sentry SDKs', group: 'Connect', summary: 'Errors by changing one DSN.' },
  { name: 'cli', title: 'Command line', group: 'Connect', summary: 'Calls, queues and events from a terminal.' },
  { name: 'console', title: 'The console', group: 'Connect', summary: 'What each page shows and does.' },
  {
    name: 'self-hosting',
    title: 'Self-hosting',
    group: 'Run it',
    summary: 'Settings, several processes, PostgreSQL of your own, metrics.',
  },
  {
    name: 'upgrading',
    title: 'Upgrading',
    group: 'Run it',
    summary: 'A new release, without a pause and with a way back.',
  },
  deployGuide('npm', 'The npm package', 'Install it into a folder and start it with npx.'),
  deployGuide('docker', 'Containers', 'An image and two Compose files: alone, or with PostgreSQL and TLS.'),
  deployGuide('kubernetes', 'Kubernetes', 'Manifests for kustomize: pods, probes, network policy, backups.'),
  deployGuide('systemd', 'systemd', 'A hardened unit for a checkout.'),
  deployGuide('tls', 'TLS', 'Certificates in the service, or behind nginx and Caddy.'),
  deployGuide('backup', 'Backup and restore', 'Backups of a running service, verified and restored.'),
  deployGuide('watching', 'Watching', 'Alerts for Prometheus and a dashboard for Grafana.'),
  deployGuide('sizing', 'Sizes', 'Calls a second, memory and disk by cores.'),
  { name: 'vendors', title: 'Vendors', group: 'Operate', summary: 'Models and videos of vendors outside.' },
  {
    name: 'payments',
    title: 'Payments',
    group: 'Operate',
    about: ['account.topup', 'account.payment_method', 'account.autorecharge', 'account.tier', 'account.subscription'],
    summary: 'Top-ups with test money or Stripe.',
  },
  { name: 'sign-in', title: 'Sign-in', group: 'Operate', summary: 'Identity providers, mail and the device flow.' },
  {
    name: 'contributing',
    file: 'CONTRIBUTING.md',
    title: 'Contributing',
    group: 'Contribute',
    summary: 'Commands, tests, style, migrations.',
  },
  {
    name: 'writing-modules',
    title: 'Writing a module',
    group: 'Contribute',
    summary: 'An operation, a module, a page of the console.',
  },
];

/** Of its file, from the repository's root. */
export function guideFile({ name, folder, file }: Guide): string {
  return file ?? `docs/${folder ?? ''}${name}.md`;
}

function deployGuide(name: string, title: string, summary: string): Guide {
  return { name, folder: 'deploy/', title, summary, group: 'Run it' };
}

/** The guide that is closest to the capability; undefined: there is none. */
export function guideOf(capabilityId: string): Guide | undefined {
  const covers = (beginning: string) => capabilityId === beginning || capabilityId.startsWith(`${beginning}.`);
  const closeness = ({ about = [] }: Guide) => Math.max(0, ...about.filter(covers).map((each) => each.length));
  const [closest] = guides.toSorted((one, other) => closeness(other) - closeness(one));
  return closest !== undefined && closeness(closest) > 0 ? closest : undefined;
}
