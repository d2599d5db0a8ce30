// Endpoints of the links in mails: open pixel, click redirect, unsubscribe page. None needs a key, and each acts for one recipient of one mail,
// which its token names.
import { clockNow } from '../../../core/database-clock.ts';
import { sendEvents } from '../../../core/events/outbox.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { escapeHtml } from '../../../lib/html.ts';
import { problem } from '../../../problems/problem.ts';
import { findMessage, recipientsOf } from '../messages/store.ts';
import { mailEvent } from '../sending/outcome-events.ts';
import type { EmailState } from '../state.ts';
import { suppress } from '../suppressions/suppressed.ts';
import { type LinkKind, type LinkTarget, TRACKING_PATH } from './links.ts';

const BODY_BYTES_MAX = 1_024;
/** A transparent GIF of one pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

const route = (
  kind: LinkKind,
  methods: RawRoute<EmailState>['methods'],
  answer: RawRoute<EmailState>['answer'],
): RawRoute<EmailState> => ({
  name: `email.${kind}`,
  methods,
  path: `${TRACKING_PATH}/${kind}/{token}`,
  capability: null,
  bodyBytesMax: BODY_BYTES_MAX,
  answer,
});

export const trackingRoutes: readonly RawRoute<EmailState>[] = [
  route('open', ['GET'], async (request, state) => {
    const target = targetOf(request, state, 'open');
    if (target !== null) await tell(state, target, 'email.opened', {});
    const headers = { 'content-type': 'image/gif', 'cache-control': 'no-store' };
    return { status: 200, headers, body: PIXEL };
  }),
  route('click', ['GET'], async (request, state) => {
    const target = targetOf(request, state, 'click');
    if (target?.url == null) throw problem('NOT_FOUND');
    await tell(state, target, 'email.clicked', { url: target.url });
    return {
      status: 302,
      headers: { location: target.url, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
      body: '',
    };
  }),
  route('unsubscribe', ['GET', 'POST'], async (request, state) => {
    const target = targetOf(request, state, 'unsubscribe');
    if (target === null) throw problem('NOT_FOUND');
    const mail = await mailOf(state, target);
    if (mail === null) throw problem('NOT_FOUND');
    const { address } = mail.recipient;
    if (request.method === 'GET') return page(asking(address));
    await unsubscribe(state, target, mail);
    return page(`<h1>Unsubscribed</h1><p>${escapeHtml(address)} gets no more mail from this sender.</p>`);
  }),
];

function targetOf({ params }: RawRequest, { links }: EmailState, kind: LinkKind): LinkTarget | null {
  return links.read(kind, params.token ?? '');
}

async function mailOf({ core }: EmailState, { accountId, emailId, number }: LinkTarget) {
  const [row, recipients] = await Promise.all([
    findMessage(core.db, accountId, emailId),
    recipientsOf(core.db, accountId, [emailId]),
  ]);
  const all = recipients.get(emailId) ?? [];
  const recipient = all.find((one) => one.number === number);
  return row === null || recipient === undefined ? null : { row, recipients: all, recipient };
}

/** Once a minute for the same link: whoever loads it again and again tells nothing new. */
async function tell(
  state: EmailState,
  target: LinkTarget,
  type: string,
  beside: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (!state.seen.isNew(`${type}\n${target.emailId}\n${target.number}\n${target.url ?? ''}`)) return;
  const mail = await mailOf(state, target);
  if (mail === null) return;
  const event = mailEvent(target.accountId, mail, type, { recipients: [mail.recipient.address], ...beside });
  await state.core.db.transaction(async (tx) => sendEvents(tx, [event], await clockNow(tx)));
}

async function unsubscribe(
  { core }: EmailState,
  { accountId, emailId }: LinkTarget,
  mail: NonNullable<Awaited<ReturnType<typeof mailOf>>>,
): Promise<void> {
  const { address } = mail.recipient;
  await core.db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    const isNew = await suppress(tx, { accountId, address, reason: 'unsubscribe', emailId, nowMs });
    if (isNew) sendEvents(tx, [mailEvent(accountId, mail, 'email.unsubscribed', { recipients: [address] })], nowMs);
  });
}

const asking = (address: string) =>
  `<h1>Unsubscribe</h1><p>Should ${escapeHtml(address)} get no more mail from this sender?</p>` +
  '<form method="post"><button type="submit">Unsubscribe</button></form>';

function page(content: string): RawAnswer {
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
    },
    body:
      '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Unsubscribe</title>' +
      '<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}' +
      `button{font:inherit;padding:.5rem 1rem}</style><main>${content}</main></html>`,
  };
}
