// The email module: mail that is sent through relays, or kept in the outbox where there is none.
import type { Queryable } from '../../db/database.ts';
import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { noRowIn } from '../../kit/resource.ts';
import { batchSend } from './capabilities/batch-send.ts';
import { cancel } from './capabilities/cancel.ts';
import { remove as deleteDomain } from './capabilities/domain/delete.ts';
import { get as getDomain } from './capabilities/domain/get.ts';
import { list as listDomains } from './capabilities/domain/list.ts';
import { verify } from './capabilities/domain/verify.ts';
import { get } from './capabilities/get.ts';
import { inbound, inboundRoute } from './capabilities/inbound.ts';
import { createInbox } from './capabilities/inbox/create.ts';
import { deleteInbox } from './capabilities/inbox/delete.ts';
import { getInbox } from './capabilities/inbox/get.ts';
import { listInboxes } from './capabilities/inbox/list.ts';
import { inboxMessages } from './capabilities/inbox/messages.ts';
import { list } from './capabilities/list.ts';
import { raw } from './capabilities/raw.ts';
import { getReceived } from './capabilities/received/get.ts';
import { listReceivedMail } from './capabilities/received/list.ts';
import { rawReceived } from './capabilities/received/raw.ts';
import { reply } from './capabilities/reply.ts';
import { send } from './capabilities/send.ts';
import { add as addSuppression } from './capabilities/suppression/add.ts';
import { remove as deleteSuppression } from './capabilities/suppression/delete.ts';
import { list as listSuppressions } from './capabilities/suppression/list.ts';
import { domainLimits } from './domains/store.ts';
import { emailEvents } from './events.ts';
import { attachmentRoute } from './inboxes/attachment-route.ts';
import { inboxLimits, inboxTable } from './inboxes/inboxes.ts';
import { receivedSweeps } from './inboxes/retention.ts';
import { SEND_PRICE } from './limits.ts';
import { liveMails } from './messages/live.ts';
import { SUBJECT_CHARACTERS_MAX } from './messages/search.ts';
import { emailProblems } from './problems.ts';
import { resendRoutes } from './resend/routes.ts';
import { emailSettings } from './settings.ts';
import { submitBy } from './smtp/submit.ts';
import { type StartedEmail, startEmail } from './state.ts';
import { suppressionLimits } from './suppressions/store.ts';
import { emailSweeps } from './sweeps.ts';
import { trackingRoutes } from './tracking/routes.ts';
import { emailFamily } from './vendors/family.ts';

const hasNoMail = noRowIn('email.message');

/** An address is whom mail went to or came from, an id is one mail, and all else stands in subjects. */
function soughtMail(q: string, addressField: 'recipient' | 'sender') {
  if (q.startsWith('eml_') || q === '' || q.length > SUBJECT_CHARACTERS_MAX) return null;
  return /^\S+@\S+$/.test(q) ? { [addressField]: q } : { subject: q };
}

export const email = defineModule<StartedEmail, ReturnType<typeof emailSettings>>({
  name: 'email',
  summary: 'Email from your domain through your relay, with bounces, suppression, and inboxes that receive.',
  status: 'ga',
  shownBy: ['email.send', 'email.get'],
  capabilities: [
    ...[send, batchSend, list, get, raw, cancel],
    ...[verify, listDomains, getDomain, deleteDomain],
    ...[listSuppressions, addSuppression, deleteSuppression],
    ...[
      createInbox,
      listInboxes,
      getInbox,
      deleteInbox,
      inboxMessages,
      listReceivedMail,
      getReceived,
      rawReceived,
      reply,
      inbound,
    ],
  ],
  clients: [
    {
      client: "Resend's client",
      address: '{base_url}/v1/email/resend',
      use: 'mail, domains',
      serves: [
        'email.send',
        'email.batch.send',
        'email.get',
        'email.cancel',
        'email.domain.verify',
        'email.domain.list',
      ],
    },
    {
      client: 'Mail servers',
      address: '{base_url}/v1/email/inbound',
      use: 'bounces, received mail',
      serves: ['email.inbound'],
    },
  ],
  limits: { ...domainLimits, ...suppressionLimits, ...inboxLimits },
  finders: [
    finder(
      'mail',
      list,
      ({ email_id: id, subject }) => ({ id, name: subject || id, path: `/email/sent/${id}` }),
      (q) => soughtMail(q, 'recipient'),
    ),
    finder(
      'received mail',
      listReceivedMail,
      ({ inbound_id: id, subject, from }) => ({ id, name: subject || from || id, path: `/email/received/${id}` }),
      (q) => soughtMail(q, 'sender'),
    ),
  ],
  events: emailEvents,
  prices: { [SEND_PRICE]: { unit: 'recipient', nanosPerUnit: 460_000n } },
  problems: emailProblems,
  models: emailFamily,
  rawRoutes: [...trackingRoutes, ...resendRoutes, inboundRoute, attachmentRoute],
  servers: [
    {
      setting: 'SMTP_PORT',
      port: ({ settings }) => settings.smtpPort,
      // What speaks SMTP is large, and off by default.
      open: async (state, door) => (await import('./smtp/server.ts')).openSmtp(state.receiving, door, submitBy(state)),
    },
  ],
  settings: emailSettings,
  start: startEmail,
  stop: async ({ receiving }) => receiving.waiters.stop(),
  close: async ({ relays, composer, receiving }) => {
    relays.close();
    await Promise.all([composer.close(), receiving.reader.close()]);
  },
  console: async () => (await import('./console/index.ts')).emailConsole,
  isEmpty: async (db, accountId) => (await hasNoMail(db, accountId)) && inboxTable.isEmpty(db, accountId),
  sweeps: ({ core }) => [...emailSweeps(core), ...receivedSweeps(core)],
  jobs: ({ loops }) => loops,
  liveWork: (db: Queryable, accountId, ids) => liveMails(db, accountId, ids),
});
