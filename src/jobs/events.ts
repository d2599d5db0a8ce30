// Event kinds for ended jobs of every module.
import {
  type EventKind,
  type EventRecord,
  type EventWords,
  eventKind,
  inWords,
  membersOf,
  otherwise,
  withoutCall,
} from '../kit/event-kind.ts';
import { cancelSchema, workSchema } from './fields.ts';

interface JobEventTexts {
  /** `video`: the events are video.job.completed and video.job.failed. */
  readonly name: string;
  /** `A video`. */
  readonly one: string;
  /** `its video`. */
  readonly made: string;
  readonly schema: Parameters<typeof membersOf>[0];
  /** A record of one that has succeeded, in the documentation. */
  readonly example: Readonly<Record<string, unknown>>;
  /** What the record of one that has failed has in place of what was made. */
  readonly nothing: Readonly<Record<string, unknown>>;
  /** The page of a job. */
  readonly path: (jobId: string) => string;
}

/** `metadata` of an example: the work of two seconds or two minutes. */
export function exampleWork({
  startedAt,
  latencyMs,
  costUsd,
  costCny,
}: Readonly<{ startedAt: string; latencyMs: number; costUsd: number; costCny: number }>) {
  return {
    request_id: 'req_0vTq3mXkfR7bYc1LpZs8Ne',
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    timestamp: startedAt,
    latency_ms: latencyMs,
    entry_form: 'rest',
    cost_usd: costUsd,
    cost_cny: costCny,
    vendor: 'sandbox',
    vendor_region: 'western',
    markup_pct: 0,
    cache_layer: 'none',
    edge_pop: 'local',
    worker_id: 'infra-1-4711',
    idempotent_replay: false,
  };
}

const error = {
  code: 'VENDOR_ERROR',
  http_status: 502,
  message: 'The vendor could not serve the call.',
  docs_url: 'https://infra.example.org/docs/errors/VENDOR_ERROR',
  retryable: false,
  trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
  request_id: 'req_0vTq3mXkfR7bYc1LpZs8Ne',
};

export function jobEvents({ name, one, made, schema, example, nothing, path }: JobEventTexts): readonly EventKind[] {
  const [completed, failed] = [`${name}.job.completed`, `${name}.job.failed`];
  const noun = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const { metadata: _work, ...unworked } = example;
  const failure = { ...unworked, state: 'failed', cost_usd: 0, error, expires_at: null, ...nothing };
  const place: EventWords['path'] = (of) => path(String(of.job_id));
  const words: Readonly<Record<string, EventWords>> = {
    [completed]: { one: (of) => `${noun} finished: “${of.prompt}”`, path: place, tone: 'good' },
    [failed]: {
      one: ({ state, error: why, prompt }) =>
        state === 'failed'
          ? `${noun} failed: ${(why as EventRecord | null)?.code}, “${prompt}”`
          : `${noun} ${state}: “${prompt}”`,
      path: place,
      tone: 'critical',
    },
  };
  return withoutCall(
    { [completed]: `A job has made ${made}.`, [failed]: 'A job has failed or expired.' },
    inWords(words, [
      eventKind(completed, `${one} job finished.`, membersOf(schema, example)),
      eventKind(failed, `${one} job failed, expired or was cancelled.`, {
        ...membersOf(schema, failure),
        cancel: otherwise({ schema: cancelSchema, example: undefined }),
        metadata: otherwise({ schema: workSchema, example: undefined }),
      }),
    ]),
  );
}
