// Builds the SQL statements of a module's jobs, in its schema. Called once, at import.

import { StepStore } from './due/steps.ts';
import type { JobTables } from './kind.ts';
import type { JobShape } from './shape.ts';
import { JobStore } from './store.ts';
import { JobWebhooks } from './webhooks.ts';

export function jobTables(shape: JobShape): JobTables {
  return { shape, store: new JobStore(shape), steps: new StepStore(shape), webhooks: new JobWebhooks(shape) };
}
