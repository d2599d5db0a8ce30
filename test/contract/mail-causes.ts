// What makes each event of mail happen, on a service with a relay.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bounceAddress } from '../../src/modules/email/sending/bounce-token.ts';
import { MailLinks } from '../../src/modules/email/tracking/links.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import type { Client, TestService } from '../support/service.ts';

const BOUNCES = 'bounces.example.org';
const MAIL = {
  from: 'agent@sender.example.org',
  subject: 'Hello',
  text: 'Hello.',
  html: '<a href="https://example.com/">Hello</a>',
};

export interface MailPlace {
  readonly relay: TestRelay;
  readonly env: Readonly<Record<string, string>>;
}

/** A relay that the service is to have, and its settings. */
export async function mailPlace(): Promise<MailPlace> {
  const relay = await startRelay();
  relay.refused.set('busy@example.net', { code: 450, text: '4.2.2 Mailbox full' });
  relay.refused.set('gone@example.net', { code: 550, text: '5.1.1 No such user' });
  const file = join(await mkdtemp(join(tmpdir(), 'qm-relay-')), 'vendors.yaml');
  await writeFile(file, `version: 1\nvendors:\n  - { id: relay, adapter: smtp, url: '${relay.url}' }\n`);
  const env = { VENDORS_FILE: file, EMAIL_TRUSTED_DOMAINS: 'sender.example.org', EMAIL_BOUNCE_DOMAIN: BOUNCES };
  return { relay, env };
}

export interface MailStage {
  readonly service: () => TestService;
  readonly call: () => Client;
  readonly accountId: () => string;
}

/** By type; `wait: false`: what background work tells. */
export function mailCauses(
  { service, call, accountId }: MailStage,
  wait: boolean,
): Readonly<Record<string, () => Promise<unknown>>> {
  const send = async (fields: object) => {
    const { body, text } = await call()('POST', '/v1/email/send', { ...MAIL, wait, ...fields });
    if (
      body.error !== undefined &&
      body.error.code !== 'EMAIL_SEND_FAILED' &&
      body.error.code !== 'RECIPIENT_SUPPRESSED'
    )
      throw new Error(text);
    return body.data?.email_id as string;
  };
  const ofCall = {
    'email.queued': () => send({ to: 'ada@example.net' }),
    'email.sent': () => send({ to: 'ada@example.net' }),
    'email.delivered': () => send({ to: 'ada@example.net', vendor: 'outbox' }),
    'email.deferred': () => send({ to: 'busy@example.net' }),
    'email.bounced': () => send({ to: 'gone@example.net' }),
    'email.auto_suppressed': () => send({ to: 'gone@example.net' }),
  };
  if (wait) {
    const cancel = async () =>
      call()('POST', `/v1/email/cancel/${await send({ to: 'ada@example.net', send_at: '2031-01-01T00:00:00Z' })}`);
    return { ...ofCall, 'email.cancelled': cancel };
  }
  const { 'email.queued': _queued, ...inBackground } = ofCall;
  const follow = async (kind: 'open' | 'click' | 'unsubscribe') => {
    const emailId = await send({ to: 'ada@example.net' });
    const row = {
      account_id: accountId(),
      email_id: emailId,
      unsubscribe: true,
      track_opens: true,
      track_clicks: true,
    };
    const links = new MailLinks(service().core).copyOf(row as Parameters<MailLinks['copyOf']>[0], 0, MAIL);
    const url =
      kind === 'unsubscribe'
        ? links.unsubscribeUrl
        : new RegExp(`"(http[^"]*/${kind}/[^"]+)"`).exec(links.html ?? '')?.[1];
    const at = new URL(url as string).pathname;
    await fetch(service().url + at, { method: kind === 'unsubscribe' ? 'POST' : 'GET', redirect: 'manual' });
  };
  return {
    ...inBackground,
    'email.opened': () => follow('open'),
    'email.clicked': () => follow('click'),
    'email.complained': async () => {
      const emailId = await send({ to: 'eve@example.net' });
      const to = bounceAddress(service().core.secrets, emailId, BOUNCES);
      const mail = Buffer.from(complaint('eve@example.net')).toString('base64');
      await call()('POST', '/v1/email/inbound/encoded', { content_base64: mail, from: '', to: [to] });
    },
    'email.unsubscribed': () => follow('unsubscribe'),
  };
}

function complaint(recipient: string): string {
  return [
    'From: fbl@isp.example',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'Somebody does not want this.',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'User-Agent: isp/1',
    'Version: 1',
    `Original-Rcpt-To: <${recipient}>`,
    '',
    '--b--',
    '',
  ].join('\r\n');
}
