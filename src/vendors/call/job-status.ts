// Maps vendors' job status words to our kinds. Words are compared without case and punctuation, with the synonyms that vendors and their
// gateways use. An unknown word means that the job still runs.
import type { JobProgress } from './job.ts';

export type StatusKind = Exclude<JobProgress<unknown>['kind'], 'gone' | 'unanswered'>;

const WORDS: Readonly<Record<StatusKind, string>> = {
  queued: 'queued queueing inqueue pending submitted created accepted starting scheduled waiting notstarted preparing',
  running:
    'running inprogress processing generating working started active rendering uploading finalizing cancelling canceling',
  succeeded: 'succeeded success successful completed complete done finished ready ok',
  failed: 'failed failure error errored rejected moderated blocked',
  cancelled: 'cancelled canceled aborted stopped',
  expired: 'expired timeout timedout',
};

const KINDS: ReadonlyMap<string, StatusKind> = new Map(
  Object.entries(WORDS).flatMap(([kind, words]) => words.split(' ').map((word) => [word, kind as StatusKind])),
);

/** @returns the kind, and a warning for the operator's log when the word is unknown. */
export function readStatus(word: unknown): { readonly kind: StatusKind; readonly warning: string | null } {
  const kind = typeof word === 'string' ? KINDS.get(word.toLowerCase().replace(/[^a-z]/g, '')) : undefined;
  if (kind !== undefined) return { kind, warning: null };
  const said = typeof word === 'string' ? JSON.stringify(word.slice(0, 80)) : `of type ${typeof word}`;
  return { kind: 'running', warning: `unknown status ${said}` };
}
