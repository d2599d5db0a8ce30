// A request that differs from another in one thing, and is as valid.
import { byId, type Input } from '../support/capabilities.ts';

/** Of those where a longer text or a name would be refused. */
const others: Readonly<Record<string, Input>> = {
  'alerts.import': { notify: [] },
  'account.email.verify': { code: '000000' },
  'account.requests.settings': { record_all_until: '2030-01-01T00:00:00Z' },
  'account.budget.set': { hard_cap_usd: 4.5 },
  'account.autorecharge.configure': { trigger_balance: 4.5 },
  'account.tier.upgrade': { target: 'pro' },
  'image.transform': { format: 'png' },
  'storage.bucket.settings': { expire: [] },
  'account.subscription.cancel': { at_period_end: false },
  'pdf.create': { content: '# Other' },
  'pdf.split': { ranges: '1-1' },
  'sms.send': { text: 'Other' },
  'sms.sandbox.inbound': { text: 'Other' },
  'sms.verify.start': { length: 7 },
  'sms.verify.check': { code: '1111' },
  'captcha.verify': { action: 'other' },
  'rtc.token': { room: 'other' },
  'risk.score': { user_id: 'other' },
  'risk.list.add': { note: 'other' },
  'risk.list.remove': { value: 'other' },
  'email.send': { subject: 'Other' },
  'email.batch.send': { wait: true },
  'email.domain.verify': { domain: 'other.example.org' },
  'email.suppression.add': { address: 'other@example.org' },
  'dns.record.set': { ttl: 77 },
  'dns.zone.import': { content: 'other 60 IN A 192.0.2.3' },
  'dns.zone.create': { zone: 'other-zone.test' },
  'ai.batch.create': {
    items: [{ custom_id: 'other', capability: 'ai.embed', body: { model: 'sandbox/ngram-1', input: 'Other' } }],
  },
  'analytics.capture': { items: [{ event: 'other', distinct_id: 'user-18' }] },
  'flags.import': { metadata: { other: 'yes' } },
  'logs.ingest': { items: [{ message: 'Other' }] },
  'metrics.ingest': { items: [{ name: 'other', value: 1 }] },
  'analytics.settings.set': { retention_days: 29 },
  'logs.settings.set': { retention_days: 29 },
  'metrics.settings.set': { retention_days: 29 },
  'realtime.settings.set': { history_seconds: 1_800 },
  'pdf.merge': { inline: false },
  'pdf.fill': { flatten: true },
  'realtime.app.rotate': { grace_hours: 1 },
  'risk.rules.set': { thresholds: { review: 31, block: 60 } },
  'email.inbox.create': { address: 'other@inbox.test' },
  'email.reply': { text: 'Other' },
};

/** The request with one thing changed that is still valid. */
export function otherRequest(id: string, input: Input): Input {
  const { path } = byId(id);
  const [parameter] = /\{([a-z_]+)\}/.exec(path)?.slice(1) ?? [];
  if (parameter !== undefined) return { ...input, [parameter]: `${input[parameter]}x` };
  if (others[id] !== undefined) return { ...input, ...others[id] };
  const sent = Object.entries(input);
  const text = sent.find(([, value]) => typeof value === 'string');
  if (text !== undefined) return { ...input, [text[0]]: `${text[1]}x` };
  const number = sent.find(([, value]) => typeof value === 'number');
  return number === undefined ? { ...input, name: 'other' } : { ...input, [number[0]]: (number[1] as number) + 1 };
}
