// The last 24 hours as 24 bars, drawn here: they need no script.

import { count, countOf } from '../../../kit/console/text.ts';
import type { DataOf } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { groupDetail } from '../capabilities/group-detail.ts';

const STEP = 10;
const BAR = 8;
const HEIGHT = 48;
const MARK = 2;

type Hour = DataOf<typeof groupDetail>['timeline'][number];

/** One bar an hour, the running one last; each names its hour and count, and the whole has its figures as text. */
export function dayOfHours(timeline: readonly Hour[]): Html {
  const top = Math.max(1, ...timeline.map(({ count: events }) => events));
  const width = timeline.length * STEP;
  const bars = timeline.map(({ ts, count: events }, i) => {
    // An hour without events keeps a mark, one with a single event is higher than that.
    const height = events === 0 ? MARK : Math.max(2 * MARK, Math.round((events / top) * HEIGHT));
    const told = `${hourOf(ts)}: ${countOf(events, 'event')}`;
    return html`<rect class="${events === 0 ? 'none' : 'bar'}" x="${i * STEP + 1}" y="${HEIGHT - height}" width="${BAR}" height="${height}" rx="1"><title>${told}</title></rect>`;
  });
  return html`<figure>
<svg class="sparkline" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${inWords(timeline)}">${bars}</svg>
<figcaption class="quiet"><span>${hourOf(timeline[0]?.ts ?? '')}</span><span>now</span></figcaption>
</figure>`;
}

function inWords(timeline: readonly Hour[]): string {
  const counts = timeline.map(({ count: events }) => count(events)).join('; ');
  return `Events per hour from ${hourOf(timeline[0]?.ts ?? '')}, ${timeline.length} hours, the running one last: ${counts}`;
}

function hourOf(ts: string): string {
  return `${ts.slice(11, 16)} UTC`;
}
