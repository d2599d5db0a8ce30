// The closed, global catalogue of event types that a webhook may subscribe to (specification, "Events").
// A type is never renamed or removed; a module that is not built yet simply emits none of its types.

export interface EventType {
  readonly type: string;
  /** Module whose work emits it. */
  readonly module: string;
  readonly summary: string;
}

const of = (module: string, types: Readonly<Record<string, string>>): EventType[] =>
  Object.entries(types).map(([type, summary]) => ({ type, module, summary }));

export const eventCatalogue: readonly EventType[] = [
  ...of('account', {
    'account.created': 'An account was created.',
    'account.updated': 'An account changed: an e-mail address was bound, or the tier changed.',
    'account.absorbed': 'Another account was merged into this one.',
    'account.device_linked': 'A device was linked to the account.',
    'account.deleted': 'The account was deleted.',
    'topup.succeeded': 'A top-up was paid and credited to the wallet.',
    'topup.failed': 'A top-up failed; nothing was credited.',
    'topup.review_started': 'A top-up is under review before it is credited.',
    'autorecharge.charged': 'The wallet was recharged automatically.',
    'autorecharge.failed': 'An automatic recharge failed.',
    'subscription.activated': 'A subscription became active.',
    'subscription.renewed': 'A subscription was renewed.',
    'subscription.cancelled': 'A subscription was cancelled.',
    'kyc.status_changed': 'The identity verification of the account changed its status.',
    'tier.upgraded': 'The tier of the account was raised.',
    'tier.downgraded': 'The tier of the account was lowered.',
    'wallet.low_balance': 'The spendable balance is low, or spending crossed the alert threshold of the budget.',
    'wallet.expiring_soon': 'Promotional credit expires soon.',
    'wallet.expired': 'Promotional credit expired and left the balance.',
  }),
  ...of('email', {
    'email.queued': 'An e-mail was accepted and waits to be sent.',
    'email.sent': 'An e-mail was handed to the receiving server.',
    'email.delivered': 'The receiving server accepted an e-mail.',
    'email.opened': 'A recipient opened an e-mail.',
    'email.clicked': 'A recipient followed a link of an e-mail.',
    'email.bounced': 'An e-mail was refused for good.',
    'email.complained': 'A recipient reported an e-mail as unwanted.',
    'email.deferred': 'The receiving server asked to try again later.',
    'email.cancelled': 'An e-mail was cancelled before it was sent.',
    'email.unsubscribed': 'A recipient unsubscribed.',
    'email.auto_suppressed': 'An address was put on the suppression list automatically.',
  }),
  ...of('sms', {
    'sms.queued': 'A text message was accepted and waits to be sent.',
    'sms.sent': 'A text message was handed to the carrier.',
    'sms.delivered': 'The carrier reported a text message as delivered.',
    'sms.failed': 'A text message could not be delivered.',
    'sms.inbound': 'A text message was received.',
  }),
  ...of('image', {
    'image.job.completed': 'An image job finished.',
    'image.job.failed': 'An image job failed.',
  }),
  ...of('video', {
    'video.job.completed': 'A video job finished.',
    'video.job.failed': 'A video job failed.',
  }),
  ...of('ai', {
    'ai.batch.completed': 'A batch of AI calls finished.',
    'ai.batch.failed': 'A batch of AI calls failed.',
  }),
  ...of('captcha', {
    'captcha.verified': 'A captcha was solved.',
    'captcha.failed': 'A captcha was not solved.',
  }),
  ...of('realtime', {
    'realtime.channel.occupied': 'A channel got its first subscriber.',
    'realtime.channel.vacated': 'A channel lost its last subscriber.',
    'realtime.member.added': 'A member joined a presence channel.',
    'realtime.member.removed': 'A member left a presence channel.',
  }),
  ...of('cron', {
    'cron.executed': 'A scheduled job ran.',
    'cron.failed': 'A run of a scheduled job failed.',
  }),
  ...of('queue', {
    'queue.dlq': 'A message was moved to its dead-letter queue.',
  }),
  ...of('errors', {
    'error.captured': 'An error group appeared, was reopened, or goes on (at most once a minute and group).',
    'error.rate_anomaly': 'An error group occurs far more often than before.',
  }),
  ...of('system', {
    'system.vendor.down': 'A vendor is not reachable.',
    'system.maintenance.scheduled': 'Maintenance of the service is planned.',
  }),
];

const types: ReadonlySet<string> = new Set(eventCatalogue.map((event) => event.type));

/** Whether `type` stands in the catalogue; names are compared exactly. */
export function isEventType(type: string): boolean {
  return types.has(type);
}

/**
 * What is told without a call, and when: by background work and the operator's command line. Calls name what they tell in the record
 * of their capability; no type that any code tells may be missing from both.
 */
export const backgroundEvents: Readonly<Record<string, string>> = {
  'account.created': 'An account was made, at the first start or by `qm accounts create`.',
  'account.updated': 'The tier was changed by `qm accounts update --tier`.',
  'wallet.low_balance':
    'Credit that expired, or a scheduled run that was charged, took the balance below the threshold.',
  'wallet.expiring_soon': 'Credit expires in 7 days, and again in 1 day.',
  'wallet.expired': 'Credit expired.',
  'queue.dlq': 'The last lease of a message ended without an ack.',
  'cron.executed': 'A scheduled run succeeded.',
  'cron.failed': 'A scheduled run failed.',
};
