// Cache of the metric metadata that this process has seen written. A metric's row is written again only when its metadata has changed, or was
// not seen in the current hour.
import { lruOf } from '../../../lib/lru.ts';
import type { MetricInfo, SampleBatch } from '../intake/batch.ts';
import { keyOf, type SeenMetric } from '../series/store.ts';

const METRICS_MAX = 50_000;

export class KnownMetrics {
  readonly #texts = lruOf<string>(METRICS_MAX);

  /** Names of what is told of metrics and is not known to stand there, and of the series in these places. */
  newsIn(accountId: string, batch: SampleBatch, places: readonly number[]): Set<string> {
    const names = new Set<string>();
    for (const info of batch.metrics) if (!this.isKnown(accountId, info)) names.add(info.name);
    if (places.length === 0) return names;
    const all = batch.names.split('\n');
    for (const place of places) names.add(all[place] as string);
    return names;
  }

  isKnown(accountId: string, info: MetricInfo): boolean {
    return this.#texts.get(keyOf(accountId, info.name)) === textOf(info);
  }

  add(accountId: string, metric: SeenMetric): void {
    if (metric.type !== null || metric.help !== null) this.#texts.set(keyOf(accountId, metric.name), textOf(metric));
  }
}

function textOf({ type, help, unit }: MetricInfo): string {
  return `${type}\n${unit}\n${help}`;
}
