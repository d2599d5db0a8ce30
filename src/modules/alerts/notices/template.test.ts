import { expect, test } from 'vitest';
import { fillIn, unknownActions } from './template.ts';

const filling = { labels: { job: 'api', odd: '{{ $value }} <b>' }, value: 0.123456 };

test.each([
  ['{{ $labels.job }} and {{.Labels.job}}', 'api and api'],
  ['{{- $labels.none -}}', ''],
  ['{{ $labels.odd }}', '{{ $value }} <b>'],
  ['{{ $value }}', '0.123456'],
  ['{{ $value | humanizePercentage }}', '12.35%'],
  ['{{ printf "%.2f" $value }}%', '0.12%'],
  ['{{ $value | printf "%.1f%%" }}', '0.1%'],
  ['{{ $value | humanize }}', '0.1235'],
])('%s is %s', (text, wanted) => {
  expect(fillIn(text, filling)).toBe(wanted);
  expect(unknownActions(text)).toEqual([]);
});

test.each([
  [90_061, 'humanizeDuration', '1d 1h 1m 1s'],
  [3_600, 'humanizeDuration', '1h 0m 0s'],
  [1.5, 'humanizeDuration', '1.5s'],
  [1_234_567, 'humanize', '1.235M'],
  [1_048_576, 'humanize1024', '1Mi'],
])('%d by %s is %s', (value, name, wanted) => {
  expect(fillIn(`{{ $value | ${name} }}`, { labels: {}, value })).toBe(wanted);
});

test.each([
  '{{ range query "up" }}',
  '{{ $labels.job | toUpper }}',
  '{{ printf "%s %s" $value }}',
  '{{ $externalURL }}',
])('%s stays as it is', (text) => {
  expect(fillIn(text, filling)).toBe(text);
  expect(unknownActions(text)).toEqual([text]);
});
