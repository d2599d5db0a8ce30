// Events of 24 hours as bars beside one another; their number stands beside.

import { count, countOf } from '../../../kit/console/text.ts';
import { type Html, html } from '../../../lib/html.ts';

const BAR = 4;
const HEIGHT = 20;

export function sparkline(hours: readonly number[], events: number): Html {
  const most = Math.max(1, ...hours);
  const bars = hours.map((value, i) => {
    const height = value === 0 ? 0 : Math.max(1, Math.round((value / most) * HEIGHT));
    return html`<rect x="${String(i * BAR)}" y="${String(HEIGHT - height)}" width="${String(BAR - 1)}" height="${String(height)}"/>`;
  });
  const width = String(hours.length * BAR);
  return html`<svg class="spark" viewBox="0 0 ${width} ${String(HEIGHT)}" width="${width}" height="${String(HEIGHT)}" fill="currentColor" role="img" aria-label="${countOf(events, 'event')} in 24 hours">${bars}</svg> ${count(events)}`;
}
