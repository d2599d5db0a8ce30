// Texts that a module supplies for an operation on its jobs.
import type { CapabilityDraft } from '../../kit/capability.ts';
import type { JobHost } from '../kind.ts';
import type { progressReader } from '../progress.ts';

export type OperationTexts = Pick<CapabilityDraft, 'path' | 'summary' | 'description' | 'keywords' | 'examples'>;

/** What the operations on jobs need of a module's state. */
export interface Operated extends JobHost {
  readonly progress: ReturnType<typeof progressReader>;
}
