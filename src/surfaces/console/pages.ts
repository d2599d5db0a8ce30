// All pages of the console, in the order of the navigation. A new one is a folder and a line here.
import { accountDeletePage, accountPage } from './account/account.ts';
import { aiPage } from './ai/ai.ts';
import { errorsPage } from './errors/errors.ts';
import { errorPage } from './errors/one.ts';
import { eventsPage } from './events/events.ts';
import { leakedPage, revokePage } from './keys/ends.ts';
import { keysPage } from './keys/keys.ts';
import { keyPage } from './keys/one.ts';
import { operatorAccountPage } from './operator/account.ts';
import { operatorHealthPage } from './operator/health.ts';
import { operatorPage } from './operator/operator.ts';
import { operatorMailPage, operatorOutboxPage } from './operator/outbox.ts';
import { refundPage, rejectPage } from './operator/topup-ends.ts';
import { operatorTopupsPage } from './operator/topups.ts';
import { overviewPage } from './overview/overview.ts';
import type { ConsolePage } from './page.ts';
import { dlqPage } from './queues/dlq.ts';
import { queueDeletePage, queuePurgePage } from './queues/ends.ts';
import { queuePage } from './queues/one.ts';
import { queuesPage } from './queues/queues.ts';
import { scheduleDeletePage, schedulePage } from './schedules/one.ts';
import { schedulesPage } from './schedules/schedules.ts';
import { usagePage } from './usage/usage.ts';
import { collectionDeletePage, collectionPage } from './vectors/collection.ts';
import { vectorsPage } from './vectors/vectors.ts';
import { jobDeletePage, jobPage } from './video/job.ts';
import { videoPage } from './video/video.ts';
import { removeCardPage } from './wallet/remove.ts';
import { walletPage } from './wallet/wallet.ts';
import { webhookDeletePage, webhookPage } from './webhooks/one.ts';
import { webhooksPage } from './webhooks/webhooks.ts';

export const pages: readonly ConsolePage[] = [
  overviewPage,
  keysPage,
  keyPage,
  revokePage,
  leakedPage,
  queuesPage,
  queuePage,
  queuePurgePage,
  queueDeletePage,
  dlqPage,
  errorsPage,
  errorPage,
  vectorsPage,
  collectionPage,
  collectionDeletePage,
  schedulesPage,
  schedulePage,
  scheduleDeletePage,
  webhooksPage,
  webhookPage,
  webhookDeletePage,
  videoPage,
  jobPage,
  jobDeletePage,
  aiPage,
  walletPage,
  removeCardPage,
  usagePage,
  eventsPage,
  accountPage,
  accountDeletePage,
  operatorPage,
  operatorAccountPage,
  refundPage,
  rejectPage,
  operatorTopupsPage,
  operatorOutboxPage,
  operatorMailPage,
  operatorHealthPage,
];
