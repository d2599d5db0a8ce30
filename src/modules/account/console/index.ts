// What module account brings to the console.
import { foundIn } from '../../../kit/console/find.ts';
import type { ModuleConsole } from '../../../kit/console/page.ts';
import type { FoundObject, Visit } from '../../../kit/console/visit.ts';
import { keysList } from '../capabilities/keys/list.ts';
import { requestsGet } from '../capabilities/requests/get.ts';
import { webhooksList } from '../capabilities/webhooks/list.ts';
import { eventsPage } from './events/events.ts';
import { leakedPage, revokePage } from './keys/ends.ts';
import { keysPage } from './keys/keys.ts';
import { keyPage } from './keys/one.ts';
import { overviewPage } from './overview/overview.ts';
import { accountDeletePage, accountPage } from './profile/account.ts';
import { requestPage } from './requests/one.ts';
import { auditPage, requestsPage } from './requests/requests.ts';
import { usagePage } from './usage/usage.ts';
import { removeCardPage } from './wallet/remove.ts';
import { walletPage } from './wallet/wallet.ts';
import { failingWebhooks } from './webhooks/failing.ts';
import { webhookDeletePage, webhookPage } from './webhooks/one.ts';
import { webhookPath } from './webhooks/webhook.ts';
import { webhooksPage } from './webhooks/webhooks.ts';

export const accountConsole: ModuleConsole = {
  pages: [
    ...[overviewPage, webhooksPage, webhookPage, webhookDeletePage, walletPage, removeCardPage, usagePage],
    ...[requestsPage, requestPage, auditPage],
    ...[eventsPage, keysPage, keyPage, revokePage, leakedPage, accountPage, accountDeletePage],
  ],
  failing: { path: '/webhooks', of: failingWebhooks },
  find,
};

async function find(visit: Visit, text: string): Promise<readonly FoundObject[]> {
  const keys = foundIn(visit, keysList, text, ({ id, name }) => ({
    ...{ kind: 'key', name: name ?? id, id, path: `/keys/${id}` },
  }));
  const webhooks = foundIn(visit, webhooksList, text, ({ id, url }) => ({
    ...{ kind: 'webhook', name: url, id, path: webhookPath(id) },
  }));
  return (await Promise.all([keys, webhooks, requestOf(visit, text)])).flat();
}

/** A request is looked for by its whole id. */
async function requestOf(visit: Visit, text: string): Promise<readonly FoundObject[]> {
  if (!/^req_\w{1,60}$/.test(text) || !visit.may(requestsGet)) return [];
  const { data } = await visit.call(requestsGet, { request_id: text });
  if (data === null) return [];
  return [{ kind: 'request', name: data.capability, path: `/requests/${data.request_id}` }];
}
