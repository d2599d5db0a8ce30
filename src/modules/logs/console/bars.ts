// Records over time as bars. Each bar leads to its time.
import { countOf, durationText, time } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { iso } from '../../../lib/time.ts';
import type { histogram } from '../capabilities/histogram.ts';
import { narrowedPath } from './filter.ts';

type Histogram = DataOf<typeof histogram>;

const BAR = 10;
const HEIGHT = 80;
const BARS_MAX = 120;

export function bars(
  visit: Visit,
  { buckets, interval_seconds: seconds, total, from, to, is_complete }: Histogram,
): Html {
  if (buckets.length === 0) return html`<p class="empty">No records in this time.</p>`;
  const intervalMs = seconds * 1_000;
  const endMs = Math.min(Date.parse(to), Math.max(visit.nowMs, Date.parse(buckets.at(-1)?.at ?? to) + intervalMs));
  const startMs = Math.max(
    floorTo(Date.parse(from), intervalMs),
    floorTo(endMs, intervalMs) - (BARS_MAX - 1) * intervalMs,
  );
  const width = Math.ceil((endMs - startMs) / intervalMs) * BAR;
  const shown = buckets.filter(({ at }) => Date.parse(at) >= startMs);
  const most = Math.max(...shown.map((bucket) => bucket.total));
  const note = is_complete ? '' : ' of the latest part of the time; the rest took too long to count';
  const each = (bucket: Histogram['buckets'][number]) => {
    const x = ((Date.parse(bucket.at) - startMs) / intervalMs) * BAR;
    return bar(visit, bucket, { x, most, intervalMs });
  };
  return html`<p class="quiet">${countOf(total, 'record')}${note}; a bar is ${durationText(seconds)}. From ${time(visit, iso(startMs))} to ${time(visit, iso(endMs))}.</p>
<svg class="bars" viewBox="0 0 ${String(width)} ${String(HEIGHT)}" preserveAspectRatio="none" role="group" aria-label="Records over time">${shown.map(each)}</svg>`;
}

const floorTo = (ms: number, stepMs: number) => Math.floor(ms / stepMs) * stepMs;

function bar(
  visit: Visit,
  { at, total, counts }: Histogram['buckets'][number],
  { x, most, intervalMs }: { readonly x: number; readonly most: number; readonly intervalMs: number },
): Html {
  const grave = (counts.error ?? 0) + (counts.fatal ?? 0);
  const label = `${at.slice(0, 19).replace('T', ' ')} UTC: ${countOf(total, 'record')}, ${countOf(grave, 'error')}`;
  const rect = (height: number, kind: Html) =>
    html`<rect${kind} x="${String(x)}" y="${String(HEIGHT - height)}" width="${String(BAR - 1)}" height="${String(height)}"/>`;
  return html`<a href="${narrowedPath(visit, { from: at, to: iso(Date.parse(at) + intervalMs) })}" aria-label="${label}"><title>${label}</title>${rect(HEIGHT, html` class="hit"`)}${rect(heightOf(total, most), html``)}${rect(heightOf(grave, most), html` class="critical"`)}</a>`;
}

function heightOf(count: number, most: number): number {
  return count === 0 ? 0 : Math.max(2, Math.round((count / most) * HEIGHT));
}
