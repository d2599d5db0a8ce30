// The last 24 hours as 24 bars, drawn here: the page needs no script.
import { type Html, html } from '../../../lib/html.ts';
import { counted, grouped } from './wording.ts';

const STEP = 10;
const BAR = 8;
const HEIGHT = 48;
const MARK = 2;

/** One bar an hour, the running one last; each names its hour and count, and the whole has its figures as text. */
export function sparkline(timeline: readonly { readonly ts: string; readonly count: number }[]): Html {
  const top = Math.max(1, ...timeline.map(({ count }) => count));
  const width = timeline.length * STEP;
  const bars = timeline.map(({ ts, count }, i) => {
    // An hour without events keeps a mark, one with a single event is higher than that.
    const height = count === 0 ? MARK : Math.max(2 * MARK, Math.round((count / top) * HEIGHT));
    const told = `${hourOf(ts)}: ${counted(count, 'event', 'events')}`;
    return html`<rect class="${count === 0 ? 'none' : 'bar'}" x="${i * STEP + 1}" y="${HEIGHT - height}" width="${BAR}" height="${height}" rx="1"><title>${told}</title></rect>`;
  });
  return html`<figure>
<svg class="sparkline" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${inWords(timeline)}">${bars}</svg>
<figcaption class="quiet"><span>${hourOf(timeline[0]?.ts ?? '')}</span><span>now</span></figcaption>
</figure>`;
}

function inWords(timeline: readonly { readonly ts: string; readonly count: number }[]): string {
  const counts = timeline.map(({ count }) => grouped(count)).join('; ');
  return `Events per hour from ${hourOf(timeline[0]?.ts ?? '')}, ${timeline.length} hours, the running one last: ${counts}`;
}

function hourOf(ts: string): string {
  return `${ts.slice(11, 16)} UTC`;
}
