// Instants of a list that is grouped by day: the day as a heading, and the time to the second in each row.

import { type Html, html } from '../../lib/html.ts';
import type { Visit } from './visit.ts';
import { wallClock } from './zone.ts';

const days = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

/** `Friday 27 November 2026`, in the reader's zone. */
export function dayText({ preferences: { zone } }: Visit, instant: string): string {
  return days.format(Date.parse(wallClock(Date.parse(instant), zone).slice(0, 10)));
}

/** `00:13:42`, in the reader's zone; the whole instant is its title. */
export function secondsTime({ preferences: { zone } }: Visit, instant: string): Html {
  const utc = `${instant.slice(0, 19).replace('T', ' ')} UTC`;
  const clock = wallClock(Date.parse(instant), zone).slice(11);
  return html`<time datetime="${instant}" title="${utc}">${clock}:${instant.slice(17, 19)}</time>`;
}
