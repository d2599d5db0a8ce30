import { expect, test } from 'vitest';
import { fieldsOf, pairsOf, promqlOf } from './builder.ts';

test.each([
  ['', ''],
  ['metric=load', 'load'],
  ['metric=load&l.host=a%22b', 'load{host="a\\"b"}'],
  ['metric=hits&fn=rate', 'rate(hits[5m])'],
  ['metric=hits&fn=rate&window=1h&agg=sum', 'sum(rate(hits[1h]))'],
  ['metric=hits&fn=increase&agg=max&by=job&by=zone', 'max by (job, zone) (increase(hits[5m]))'],
  ['metric=took_bucket&fn=p95&by=job', 'histogram_quantile(0.95, sum by (le, job) (rate(took_bucket[5m])))'],
  ['metric=load&fn=constructor&agg=drop&window=9y', 'load'],
])('%s makes %s', (query, text) => {
  const fields = fieldsOf(new URLSearchParams(query));
  expect(promqlOf(fields)).toBe(text);
  expect(promqlOf(fieldsOf(new URLSearchParams(pairsOf(fields))))).toBe(text);
});
