// The order of test files: the longest first, so that no worker is left with one at the end.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take more than some fifteen seconds, the longest first: of `npm run test:soak` and `npm test` together. */
const LONGEST = [
  // In a process that is still fresh: where hundreds of files have run, collecting the heap keeps the event loop busy.
  'vector/event-loop.long',
  'console/states.long',
  'faults/payments.soak.long',
  'queue/model.soak',
  'vector/crash-loading.soak.long',
  'faults/recharge.soak',
  'wallet/model.soak',
  'video/orders.soak',
  'ai/money-property.soak',
  'payments/exactly-once.soak.long',
  'payments/subscriptions.soak',
  'faults/startup.long',
  'queue/push-flow.long',
  'vector/pgvector.long',
  'contract/idempotency',
  'video/failover-matrix.soak.long',
  'faults/video-kill.soak.long',
  'errors/concurrency.soak',
  'faults/races.soak',
  'vector/engine-embedded.long',
  'cli/commands.long',
  'errors/planted-end-to-end.long',
  'contract/examples',
  'faults/crash.soak.long',
  'faults/ai-kill.soak.long',
  'faults/ai-kill-moments.soak',
  'console/hostile-texts.long',
  'contract/bad-input',
  'queue/push.long',
  'faults/stopping.long',
  'cron/runs.long',
  'console/budgets.long',
  'cron/two-processes.long',
  'console/dead-letters.long',
  'video/vendors.long',
  'console/queues.long',
  'console/error-hostile.long',
  'admission/full.long',
  'examples/find-text.long',
  'contract/gateway',
  'console/operator-mail.long',
  'console/video-ai.long',
  'examples/hash-files.long',
  'console/keys.long',
  'vendors/operator.long',
  'outbound/hostile.long',
  'errors/sentry-bombs.long',
  'faults/workers.long',
  'video/hostile-vendors.long',
  'console/error-group.long',
  'errors/sentry-body.long',
  'errors/sentry-sdk.long',
  'console/live.long',
  'contract/connections',
  'mcp/examples',
  'video/s3.long',
  'storage/embedded-crash.long',
  'vector/pgvector-graph.long',
  'video/extend-at-vendors.long',
  'vector/answer-size.long',
  'sqs/elasticmq-queues.long',
  'people/journey-browser.long',
  'vector/overwriting.long',
  'examples/make-film.long',
  'queue/push-idle.long',
  'faults/homes.long',
  'payments/pay-browser.long',
  'contract/module-from-a-folder',
  'ai/disconnect.long',
  'people/delete-account',
  'console/live-browser.long',
  'console/vectors.long',
  'contract/tenants',
  'storage/embedded',
  'console/wallet-account.long',
  'video/openai',
];

const rank = new Map(
  LONGEST.map((name, i) => {
    const file = join(import.meta.dirname, '..', `${name}.test.ts`);
    if (!existsSync(file)) throw new Error(`${file} is named in longest-first.ts and is not there`);
    return [file, i];
  }),
);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const at = ({ moduleId }: TestSpecification) => rank.get(moduleId) ?? LONGEST.length;
    return (await super.sort(files)).sort((a, b) => at(a) - at(b));
  }
}
