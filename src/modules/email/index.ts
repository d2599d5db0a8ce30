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
import { rawReceived } from './capabilities/received/raw.ts';
import { send } from './capabilities/send.ts';
import { add as addSuppression } from './capabilities/suppression/add.ts';
import { remove as deleteSuppression } from './capabilities/suppression/delete.ts';
import { list as listSuppressions } from './capabilities/suppression/list.ts';
import { domainLimits } from './domains/store.ts';
import { emailEvents } from './events.ts';
import { attachmentRoute } from './inboxes/attachment-links.ts';
import { inboxLimits } from './inboxes/inboxes.ts';
import { receivedSweeps } from './inboxes/retention.ts';
import { SEND_PRICE } from './limits.ts';
import { liveMails } from './messages/live.ts';
import { emailProblems } from './problems.ts';
import { resendRoutes } from './resend/routes.ts';
import { type EmailSettings, emailSettings } from './settings.ts';
import { type StartedEmail, startEmail } from './state.ts';
import { suppressionLimits } from './suppressions/store.ts';
import { emailSweeps } from './sweeps.ts';
import { trackingRoutes } from './tracking/routes.ts';
import { emailFamily } from './vendors/family.ts';

export const email = defineModule<StartedEmail, EmailSettings>({
  name: 'email',
  summary: 'E-mail: sent with DKIM through your relay, with bounces, suppression and inboxes of its own.',
  status: 'ga',
  shownBy: ['email.send', 'email.get'],
  capabilities: [
    ...[send, batchSend, list, get, raw, cancel],
    ...[verify, listDomains, getDomain, deleteDomain],
    ...[listSuppressions, addSuppression, deleteSuppression],
    ...[createInbox, listInboxes, getInbox, deleteInbox, inboxMessages, getReceived, rawReceived, inbound],
  ],
  clients: [
    {
      client: "Resend's client",
      address: '{base_url}/v1/email/resend',
      use: 'sends mail, verifies domains',
      serves: [
        'email.send',
        'email.batch.send',
        'email.get',
        'email.cancel',
        'email.domain.verify',
        'email.domain.list',
      ],
    },
  ],
  limits: { ...domainLimits, ...suppressionLimits, ...inboxLimits },
  finders: [
    finder('mail', list, ({ email_id: id, subject }) => ({ id, name: subject || id, path: `/email/sent/${id}` })),
  ],
  events: emailEvents,
  prices: { [SEND_PRICE]: { unit: 'recipient', nanosPerUnit: 460_000n } },
  problems: emailProblems,
  models: emailFamily,
  rawRoutes: [...trackingRoutes, ...resendRoutes, inboundRoute, attachmentRoute],
  settings: emailSettings,
  start: startEmail,
  stop: async ({ receiving }) => receiving.waiters.stop(),
  close: async ({ relays, composer, receiving }) => {
    relays.close();
    await Promise.all([composer.close(), receiving.reader.close()]);
  },
  console: async () => (await import('./console/index.ts')).emailConsole,
  isEmpty: noRowIn('email.message'),
  sweeps: ({ core }) => [...emailSweeps(core), ...receivedSweeps(core)],
  jobs: ({ loops }) => loops,
  liveWork: (db: Queryable, accountId, ids) => liveMails(db, accountId, ids),
});
