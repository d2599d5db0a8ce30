// Records over time as bars. Each bar leads to its time.
import { countOf } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { histogram } from '../capabilities/histogram.ts';
import { narrowed } from './filter.ts';

type Histogram = DataOf<typeof histogram>;

const BAR = 10;
const HEIGHT = 80;
const BARS_MAX = 120;

export function bars(
  visit: Visit,
  { buckets, interval_seconds: seconds, total, is_complete: isComplete }: Histogram,
): Html {
  const shown = buckets.slice(-BARS_MAX);
  const [first] = shown;
  if (first === undefined) return html`<p class="empty">No records in this time.</p>`;
  const intervalMs = seconds * 1_000;
  const startMs = Date.parse(first.at);
  const slots = Math.min(BARS_MAX, (Date.parse((shown.at(-1) as typeof first).at) - startMs) / intervalMs + 1);
  const most = Math.max(...shown.map((bucket) => bucket.total));
  const each = (bucket: Histogram['buckets'][number]) => {
    const atMs = Date.parse(bucket.at);
    const x = ((atMs - startMs) / intervalMs) * BAR;
    const grave = (bucket.counts.error ?? 0) + (bucket.counts.fatal ?? 0);
    const to = new Date(atMs + intervalMs).toISOString();
    const [all, red] = [heightOf(bucket.total, most), heightOf(grave, most)];
    const label = `${bucket.at.slice(0, 19).replace('T', ' ')} UTC: ${countOf(bucket.total, 'record')}, ${countOf(grave, 'error')}`;
    return html`<a href="${narrowed(visit, { from: bucket.at, to })}" aria-label="${label}"><title>${label}</title><rect class="hit" x="${String(x)}" y="0" width="${String(BAR)}" height="${String(HEIGHT)}"/><rect x="${String(x)}" y="${String(HEIGHT - all)}" width="${String(BAR - 1)}" height="${String(all)}"/><rect class="critical" x="${String(x)}" y="${String(HEIGHT - red)}" width="${String(BAR - 1)}" height="${String(red)}"/></a>`;
  };
  const note = isComplete ? '' : ' of the latest part of the time; the rest took too long to count';
  return html`<p class="quiet">${countOf(total, 'record')}${note}, ${countOf(seconds, 'second')} a bar.</p>
<svg class="bars" viewBox="0 0 ${String(Math.max(1, slots) * BAR)} ${String(HEIGHT)}" preserveAspectRatio="none" role="group" aria-label="Records over time">${shown.map(each)}</svg>`;
}

function heightOf(count: number, most: number): number {
  return count === 0 ? 0 : Math.max(2, Math.round((count / most) * HEIGHT));
}
