// What the page of a group is made of: numbers and instants in words, JSON as text, a table of values, the bars of a day.
import { type Html, html } from '../../../lib/html.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts';

const MINUTE_MS = 60_000;

/** 1234567 as 1,234,567. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

function counted(count: number, one: string, many: string): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** `2026-03-01 10:20:30 UTC` for an ISO instant; what is none is shown as it is. */
export function instant(text: string): Html {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return html`${text}`;
  const exact = new Date(ms).toISOString();
  return html`<time datetime="${exact}">${exact.slice(0, 10)} ${exact.slice(11, 19)} UTC</time>`;
}

/** `3 hours ago`, with the instant itself behind it. */
export function since(text: string, nowMs: number): Html {
  return html`${ago(Math.max(0, nowMs - Date.parse(text)))} <span class="quiet">${instant(text)}</span>`;
}

function ago(ms: number): string {
  if (ms < MINUTE_MS) return 'just now';
  if (ms < HOUR_MS) return `${counted(Math.floor(ms / MINUTE_MS), 'minute', 'minutes')} ago`;
  if (ms < DAY_MS) return `${counted(Math.floor(ms / HOUR_MS), 'hour', 'hours')} ago`;
  return `${counted(Math.floor(ms / DAY_MS), 'day', 'days')} ago`;
}

/** The first `charactersMax` UTF-16 units, and how many are left out. A surrogate pair is not cut in two. */
export function shortened(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const high = text.charCodeAt(charactersMax - 1);
  const end = high >= 0xd800 && high < 0xdc00 ? charactersMax - 1 : charactersMax;
  return `${text.slice(0, end)} … (${grouped(text.length - end)} more characters)`;
}

// JSON of any size and depth as text of a bounded size: an event may be a megabyte, and indentation grows with the square of the depth.

const CHARACTERS_MAX = 20_000;
const DEPTH_MAX = 12;

/** The value indented, in a block of its own. */
export function jsonBlock(value: unknown, label: string): Html {
  // An HTML parser drops a line feed right behind the tag.
  return html`<pre class="scroll" tabindex="0" role="region" aria-label="${label}">\n${indented(value)}</pre>`;
}

/** JSON by two spaces; what is too deep or too long ends in an ellipsis. */
export function indented(value: unknown): string {
  const out: Out = { parts: [], left: CHARACTERS_MAX };
  write(out, value, 0);
  return out.left > 0 ? out.parts.join('') : `${out.parts.join('')}\n… the API shows all of it`;
}

interface Out {
  readonly parts: string[];
  left: number;
}

function put(out: Out, text: string): void {
  if (out.left <= 0) return;
  out.parts.push(text);
  out.left -= text.length;
}

function write(out: Out, value: unknown, depth: number): void {
  if (value === null || typeof value !== 'object') {
    put(out, scalar(value));
    return;
  }
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) put(out, open + close);
  else if (depth === DEPTH_MAX) put(out, `${open} … ${close}`);
  else {
    put(out, open);
    for (const [i, [name, item]] of entries.entries()) {
      if (out.left <= 0) return;
      put(out, `${i === 0 ? '' : ','}\n${'  '.repeat(depth + 1)}`);
      if (!Array.isArray(value)) put(out, `${scalar(name)}: `);
      write(out, item, depth + 1);
    }
    put(out, `\n${'  '.repeat(depth)}${close}`);
  }
}

function scalar(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(shortened(value, CHARACTERS_MAX)) : String(value);
}

// How the events of a group spread over values: a table with bars, the most frequent first.

const SHOWN = 8;
const NAME_CHARACTERS_MAX = 300;

/** `total`: events of the group. Nothing when there are no values. */
export function distribution(title: string, counts: Readonly<Record<string, number>>, total: number): Html {
  const rows = Object.entries(counts).sort(([, a], [, b]) => b - a);
  if (rows.length === 0) return html``;
  const rest = rows.slice(SHOWN);
  const more = html`<details><summary>${grouped(rest.length)} more</summary>${table(`${title}, continued`, rest, total)}</details>`;
  return html`<section><h2>${title}</h2>${table(title, rows.slice(0, SHOWN), total)}${rest.length === 0 ? '' : more}</section>\n`;
}

function table(title: string, rows: readonly (readonly [string, number])[], total: number): Html {
  return html`<table class="share"><caption class="unseen">${title}</caption>
<thead class="unseen"><tr><th scope="col">Value</th><th scope="col">Events</th></tr></thead>
<tbody>${rows.map(([name, events]) => row(name, events, total))}</tbody></table>`;
}

function row(name: string, events: number, total: number): Html {
  const share = total === 0 ? 0 : Math.min(100, (events / total) * 100);
  return html`<tr><th scope="row" dir="auto">${shortened(name, NAME_CHARACTERS_MAX)}<svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="none" width="100" height="4"/><rect class="bar" width="${share.toFixed(1)}" height="4"/></svg></th><td>${grouped(events)} <span class="quiet">${percent(share)}</span></td></tr>`;
}

function percent(share: number): string {
  if (share > 0 && share < 1) return '<1 %';
  return `${share > 99 && share < 100 ? 99 : Math.round(share)} %`;
}

// The last 24 hours as 24 bars, drawn here: the page needs no script.

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
