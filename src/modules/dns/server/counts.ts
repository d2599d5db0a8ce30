// Counters of the answers of this process's name server, for /metrics.
import type { Metric } from '../../../core/process/metric.ts';

export interface DnsCounts {
  /** Answers by what they say. */
  readonly answers: Map<string, number>;
  /** Packets that got none, by why. */
  readonly dropped: Map<string, number>;
}

export function newCounts(): DnsCounts {
  return { answers: new Map(), dropped: new Map() };
}

export function countOne(counts: Map<string, number>, label: string): void {
  counts.set(label, (counts.get(label) ?? 0) + 1);
}

export function countMetrics({ answers, dropped }: DnsCounts): readonly Metric[] {
  const metric =
    (name: string, help: string, label: string) =>
    ([value, count]: [string, number]) => ({
      name,
      help,
      labels: { [label]: value },
      value: count,
    });
  return [
    ...[...answers].map(metric('qm_dns_answers_total', 'Answers of the name server.', 'rcode')),
    ...[...dropped].map(metric('qm_dns_dropped_total', 'Packets that the name server did not answer.', 'reason')),
  ];
}
