// Distribution of a group's events over values: a table with bars, the most frequent first.

import { count } from '../../../kit/console/text.ts';
import { type Html, html } from '../../../lib/html.ts';
import { shorten } from './json-block.ts';

const SHOWN = 8;
const NAME_CHARACTERS_MAX = 300;

/** `total`: events of the group. Nothing when there are no values. */
export function distribution(title: string, counts: Readonly<Record<string, number>>, total: number): Html {
  const rows = Object.entries(counts).sort(([, a], [, b]) => b - a);
  if (rows.length === 0) return html``;
  const rest = rows.slice(SHOWN);
  const more = html`<details><summary>${count(rest.length)} more</summary>${table(`${title}, continued`, rest, total)}</details>`;
  return html`<section><h2>${title}</h2>${table(title, rows.slice(0, SHOWN), total)}${rest.length === 0 ? '' : more}</section>\n`;
}

function table(title: string, rows: readonly (readonly [string, number])[], total: number): Html {
  return html`<table class="share"><caption class="unseen">${title}</caption>
<thead class="unseen"><tr><th scope="col">Value</th><th scope="col">Events</th></tr></thead>
<tbody>${rows.map(([name, events]) => row(name, events, total))}</tbody></table>`;
}

function row(name: string, events: number, total: number): Html {
  const share = total === 0 ? 0 : Math.min(100, (events / total) * 100);
  return html`<tr><th scope="row" dir="auto">${shorten(name, NAME_CHARACTERS_MAX)}<svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="none" width="100" height="4"/><rect class="bar" width="${share.toFixed(1)}" height="4"/></svg></th><td>${count(events)} <span class="quiet">${percent(share)}</span></td></tr>`;
}

function percent(share: number): string {
  if (share > 0 && share < 1) return '<1 %';
  return `${share > 99 && share < 100 ? 99 : Math.round(share)} %`;
}
