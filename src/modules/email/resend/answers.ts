// E-mails and domains in the shape of Resend's wire.
import type { Static } from 'typebox';
import type { get } from '../capabilities/get.ts';
import type { domainSchema } from '../domains/resource.ts';

type Domain = Static<typeof domainSchema>;
type DomainRecord = Domain['records'][number];

/** The service has one; their clients know these names. */
const REGION = 'us-east-1';

const recordStatus = { ok: 'verified', missing: 'not_started', mismatch: 'failed' } as const;
/** What they call it; the policy is no record of theirs. */
const recordKind = { dkim: 'DKIM', spf: 'SPF', mx: 'SPF', dmarc: null, inbound: 'Receiving' } as const;

/** The domain is its own id. */
export function domainOf({ domain, status, created_at, records }: Domain) {
  const receives = records.some((record) => record.purpose === 'inbound' && record.status === 'ok');
  return {
    id: domain,
    name: domain,
    status,
    created_at,
    region: REGION,
    capabilities: { sending: 'enabled', receiving: receives ? 'enabled' : 'disabled' },
    open_tracking: false,
    click_tracking: false,
  };
}

export function recordsOf({ records }: Domain) {
  return records.flatMap((record) => {
    const kind = recordKind[record.purpose];
    return kind === null
      ? []
      : [{ record: kind, ...dnsRecord(record), ttl: 'Auto', status: recordStatus[record.status] }];
  });
}

function dnsRecord({ type, name, value }: DomainRecord) {
  const [preference = '', host = ''] = value.split(' ');
  return type === 'MX' ? { type, name, value: host, priority: Number(preference) } : { type, name, value };
}

/** What of email.get is shown. */
export type Email = Static<(typeof get)['output']>;

const lastEvent: Readonly<Record<Email['status'], string>> = {
  queued: 'queued',
  scheduled: 'scheduled',
  sent: 'sent',
  delivered: 'delivered',
  deferred: 'delivery_delayed',
  bounced: 'bounced',
  failed: 'failed',
  cancelled: 'canceled',
  suppressed: 'suppressed',
  indeterminate: 'sent',
};

export function mailOf(email: Email) {
  const { email_id, from, to, subject, status, message_id, created_at, content } = email;
  return {
    object: 'email',
    id: email_id,
    from,
    to,
    subject,
    message_id,
    created_at,
    html: content?.html ?? null,
    text: content?.text ?? null,
    cc: ofKind(email, 'cc'),
    bcc: ofKind(email, 'bcc'),
    reply_to: content?.reply_to ?? [],
    last_event: lastEvent[status],
    scheduled_at: status === 'scheduled' ? email.send_at : null,
    tags: email.tags.map(tagOf),
    topic_id: null,
  };
}

function ofKind({ recipients }: Email, kind: string): string[] {
  return recipients.filter((each) => each.kind === kind).map(({ address }) => address);
}

function tagOf(tag: string) {
  const [name = '', ...value] = tag.split(':');
  return { name, value: value.join(':') };
}
