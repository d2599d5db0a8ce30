// The order of test files: the longest first, so that no worker is left with one at the end.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take more than some ten seconds, the longest first. */
const LONGEST = [
  'vector/pgvector',
  'vector/engine-embedded',
  'queue/push-flow',
  'errors/sentry-sdk',
  'contract/bad-input',
  'console/queues',
  'queue/model.soak',
  'console/states.soak',
  'console/hostile-texts',
  'console/dead-letters',
  'console/live',
  'cli/commands',
  'faults/startup',
  'errors/concurrency.soak',
  'wallet/model.soak',
  'contract/limits',
  'vector/event-loop',
  'queue/push',
  'sqs/elasticmq-queues',
  'faults/crash.soak',
  'examples/hash-files',
  'vector/crash-loading.soak',
  'cron/runs',
  'video/s3',
  'video/failover-matrix.soak',
  'video/hostile-vendors',
  'video/openai',
  'faults/races.soak',
  'faults/ai-kill.soak',
  'cron/two-processes',
  'outbound/hostile',
  'vendors/operator',
  'storage/embedded-crash',
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
