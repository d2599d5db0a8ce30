// Spans of lane commits: each call in a commit gets a span of its own in its trace, with the times of the commit.
import { sqlState } from '../../../db/database.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { Waiting } from './waiting.ts';

/** `startedMs`: by performance.now(). `failure`: what it failed with, null of a commit. */
export function traceCommit(
  tracing: Tracing,
  batch: readonly Waiting[],
  { startedMs, failure }: { readonly startedMs: number; readonly failure: unknown },
): void {
  const endedMs = performance.now();
  for (const { span, sinceMs } of batch) {
    if (span === null) continue;
    tracing.add(span, {
      name: 'commit',
      kind: 'internal',
      startedMs,
      endedMs,
      isError: failure !== null,
      attributes: {
        'qm.commit.calls': batch.length,
        'qm.commit.waited_ms': Math.round((startedMs - sinceMs) * 1000) / 1000,
        'error.type': failure === null ? null : (sqlState(failure) ?? 'unknown'),
      },
    });
  }
}
