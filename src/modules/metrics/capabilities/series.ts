import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { list, matchersOf } from '../query/ask.ts';
import type { ListKind } from '../query/lists.ts';
import { fromField, isCutField, listLimitField, matchField, msOf, toField } from '../schemas.ts';
import type { MetricsState } from '../state.ts';

const LIMIT_DEFAULT = 100;
const seen = {
  capability: 'metrics.ingest',
  input: { items: [{ name: 'jobs_waiting', value: 3, labels: { queue: 'mail' } }] },
};

interface ListInput {
  readonly match?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
}

async function listJson(
  ctx: CallContext,
  { store }: MetricsState,
  kind: ListKind,
  input: ListInput,
): Promise<JsonText> {
  const selectors = input.match === undefined ? [[]] : await matchersOf(ctx, [input.match]);
  const firstMs = await store.firstKeptMs(ctx.accountId);
  const time = {
    fromMs: Math.max(firstMs, input.from === undefined ? 0 : msOf(input.from)),
    toMs: input.to === undefined ? Date.now() : msOf(input.to),
  };
  const { list: text, isCut } = await list(ctx, kind, selectors, time, input.limit ?? LIMIT_DEFAULT);
  return new JsonText(`{"items":${text},"is_cut":${isCut}}`);
}

export const listSeries = defineCapability<MetricsState>()({
  method: 'GET',
  path: '/v1/metrics/series/list',
  summary: 'Lists series by their labels.',
  description:
    'Series that a selector chooses, each as its labels; __name__ is the metric. Times are looked at by the hour.',
  keywords: ['find series', 'which labels does a metric have', 'cardinality'],
  input: Type.Object({ match: matchField, from: fromField, to: toField, limit: listLimitField }),
  output: Type.Object({
    items: Type.Array(Type.Record(Type.String(), Type.String()), { description: 'Labels of each series.' }),
    is_cut: isCutField,
  }),
  opaque: ['items'],
  errors: ['UNSUPPORTED_QUERY', 'OVERLOADED', 'CONCURRENCY_LIMITED'],
  examples: [
    {
      title: 'Series of a metric',
      before: [seen],
      input: { match: 'jobs_waiting{queue="mail"}' },
      expect: { items: [{ __name__: 'jobs_waiting', queue: 'mail' }], is_cut: false },
    },
  ],
  async run({ ctx, input, state }) {
    return { data: await listJson(ctx, state, { of: 'series' }, input) };
  },
});

export const labels = defineCapability<MetricsState>()({
  method: 'GET',
  path: '/v1/metrics/labels',
  summary: 'Lists labels, or the values of a label.',
  description:
    'Names of the labels that series have; with label, the values that it has. Times are looked at by the hour.',
  keywords: ['label names', 'label values', 'list metric names', 'which metrics are there'],
  input: Type.Object({
    label: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Values of this label in place of names; __name__: of the metrics.',
      }),
    ),
    match: matchField,
    from: fromField,
    to: toField,
    limit: listLimitField,
  }),
  output: Type.Object({
    items: Type.Array(Type.String(), { description: 'Names or values, sorted.' }),
    is_cut: isCutField,
  }),
  errors: ['UNSUPPORTED_QUERY', 'OVERLOADED', 'CONCURRENCY_LIMITED'],
  examples: [
    {
      title: 'Values of a label',
      before: [seen],
      input: { label: 'queue', match: 'jobs_waiting' },
      expect: { items: ['mail'], is_cut: false },
    },
  ],
  async run({ ctx, input, state }) {
    const { label, ...rest } = input;
    const kind: ListKind = label === undefined ? { of: 'labels' } : { of: 'values', label };
    return { data: await listJson(ctx, state, kind, rest) };
  },
});
