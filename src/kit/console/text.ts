// Values as people read them: money with as many digits as it needs, instants in two zones, counts, and texts of strangers cut short.

import { type Html, html } from '../../lib/html.ts';
import { copiedBlock } from './copied.ts';
import type { Visit } from './visit.ts';
import { inZone } from './zone.ts';

/** What a page shows of one text of a stranger; the rest is at the address that `more` gives. */
export const TEXT_CHARACTERS_MAX = 64 * 1024;
const DECIMALS_MIN = 2;
const DECIMALS_MAX = 9;
/** A rate may be far below the smallest amount. */
const ROUGH_DECIMALS_MAX = 20;
const SIGNIFICANT = 3;
const CENT = 0.01;
/** Wider than a column of a table should be. */
const LONG_WORD = /[^\s-]{37}/;
// Making a formatter takes as long as some twenty uses of it, and a plot has hundreds of figures.
const plain = new Intl.NumberFormat('en', { maximumFractionDigits: DECIMALS_MAX, useGrouping: false });
const tenths = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const measured = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 6 });
const counted = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const cents = new Intl.NumberFormat('en', { minimumFractionDigits: DECIMALS_MIN, maximumFractionDigits: DECIMALS_MIN });
const exact = new Intl.NumberFormat('en', {
  minimumFractionDigits: DECIMALS_MIN,
  maximumFractionDigits: DECIMALS_MAX,
});

/** USD with at least two decimals, and all that it has: 0.00002 is never shown as 0.00. */
export function moneyText(usd: number): string {
  const text = exact.format(usd);
  return text === '-0.00' ? '0.00' : text;
}

/** `$26.94`: an amount for people. Where cents do not tell all of it, the exact amount is its title, and is read out. */
export function money(usd: number): Html {
  const [shown, whole] = [dollars(shortText(usd)), exactMoney(usd)];
  if (shown === whole) return html`<span class="number-value">${shown}</span>`;
  return html`<span class="number-value" title="${whole}">${shown}<span class="unseen"> (exactly ${whole})</span></span>`;
}

/** `$0.00002`: an amount with all its digits, such as a price or a cap. */
export function exactMoney(usd: number): string {
  return dollars(moneyText(usd));
}

/** A rate, an estimate: the three digits that count. */
export function roughMoney(usd: number): Html {
  return html`<span class="number-value">${dollars(significantText(usd))}</span>`;
}

/** Cents; the three digits that count where cents would be none. */
function shortText(usd: number): string {
  return Math.abs(usd) < CENT ? significantText(usd) : cents.format(usd);
}

function significantText(usd: number): string {
  const digits = usd === 0 ? 0 : SIGNIFICANT - 1 - Math.floor(Math.log10(Math.abs(usd)));
  const maximumFractionDigits = Math.min(ROUGH_DECIMALS_MAX, Math.max(DECIMALS_MIN, digits));
  const text = new Intl.NumberFormat('en', { minimumFractionDigits: DECIMALS_MIN, maximumFractionDigits }).format(usd);
  return text === '-0.00' ? '0.00' : text;
}

function dollars(text: string): string {
  return text.startsWith('-') ? `-$${text.slice(1)}` : `$${text}`;
}

/** The amount in a column, whose decimal points stand below one another and whose title says that it is USD. */
export function digits(usd: number): Html {
  const [whole, fraction] = moneyText(usd).split('.') as [string, string];
  return html`<span class="number-value">${whole}<span class="fraction">.${fraction}</span></span>`;
}

/** How many decimals the amount is told with. */
export function decimalsOf(usd: number): number {
  return moneyText(usd).split('.')[1]?.length ?? 0;
}

/** For fields and files: no exponent, no grouping, and no digit beyond what money has (`0.1 + 0.2` is `0.3`). */
export function plainNumber(value: number): string {
  return value === 0 ? '0' : plain.format(value);
}

/** A measured value: whole numbers as they are, others with six digits. */
export function figure(value: number): string {
  return Number.isInteger(value) ? count(value) : measured.format(value);
}

export function count(value: number): string {
  return counted.format(value);
}

/** `1 message`, `4,210 messages`. */
export function countOf(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** `5.0 %`: few are not told as none, nor nearly all as all. */
export function shareText(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : (100 * part) / whole;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  return percent < 100 && percent >= 99.95 ? '> 99.9 %' : `${percent.toFixed(1)} %`;
}

/** `12.4 MB`; a kB has 1,024 bytes. */
export function sizeText(bytes: number): string {
  if (bytes < 1_024) return countOf(bytes, 'byte');
  const units = ['kB', 'MB', 'GB', 'TB'];
  // What rounds to 1,024 is one of the next unit.
  const step = units.findIndex((_, i) => bytes / 1_024 ** (i + 1) < 1_023.95);
  const at = step === -1 ? units.length - 1 : step;
  return `${tenths.format(bytes / 1_024 ** (at + 1))} ${units[at]}`;
}

/** The exact instant, to the second, in the reader's zone; UTC, as budgets and the API have it, is its title. For records, whose order matters: elsewhere `ago`. */
export function time(visit: Visit, instant: string | null, never = 'never'): Html {
  if (instant === null) return html`<span class="quiet">${never}</span>`;
  return html`<time datetime="${instant}" title="${inZone(instant, 'UTC')}">${inZone(instant, visit.preferences.zone)}</time>`;
}

/** `3 min ago`, `in 2 h`: how pages tell an instant. Exact, in both zones, as its title. */
export function ago(visit: Visit, instant: string | null, never = 'never'): Html {
  if (instant === null) return html`<span class="quiet">${never}</span>`;
  const seconds = (visit.nowMs - Date.parse(instant)) / 1_000;
  const text = durationText(Math.abs(seconds));
  const told = Math.abs(seconds) < 1 ? 'now' : seconds >= 0 ? `${text} ago` : `in ${text}`;
  const { zone } = visit.preferences;
  const local = zone === 'UTC' ? '' : `, ${inZone(instant, zone)}`;
  return html`<time datetime="${instant}" title="${inZone(instant, 'UTC')}${local}">${told}</time>`;
}

/** The largest unit of a duration: `42 s`, `3 min`, `5 h`, `12 days`. */
export function durationText(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${count(Math.floor(seconds / 86_400))} days`;
}

/**
 * A text of a stranger on one line, cut where it is long. Only words that are too long for a column are broken in their middle. Nothing of
 * none: tables on narrow screens leave such a cell out.
 */
export function short(text: string, charactersMax = 200): Html {
  if (text === '') return html``;
  const cut = text.length <= charactersMax ? text : `${text.slice(0, charactersMax).toWellFormed()}…`;
  return html`<bdi${LONG_WORD.test(cut) ? html` class="long"` : ''}>${cut}</bdi>`;
}

/** A payload, as JSON to be read; `whole`: where all of a long one is, as an address of this page or the call that answers it. */
export function payload(
  value: unknown,
  label: string,
  whole: { readonly download: string } | { readonly call: string },
): Html {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const isCut = text.length > TEXT_CHARACTERS_MAX;
  const shown = isCut ? text.slice(0, TEXT_CHARACTERS_MAX).toWellFormed() : text;
  return html`${copiedBlock(html`<pre class="scroll text" tabindex="0" aria-label="${label}" dir="auto">${shown}</pre>`, label)}${isCut ? html`<p class="quiet">Cut after 64 KiB of ${count(Math.ceil(text.length / 1_024))}.${'call' in whole ? html` <code>${whole.call}</code> has all of it.` : html` <a href="${whole.download}">Download it whole</a>`}</p>` : ''}`;
}

/** A link of the service as a path: pages show what is of their own origin only. */
export function ownPath(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
