// How the page writes numbers, instants and texts that may be long.

import { type Html, html } from '../../../lib/html.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts';

const MINUTE_MS = 60_000;

/** 1234567 as 1,234,567. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

export function counted(count: number, one: string, many: string): string {
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
