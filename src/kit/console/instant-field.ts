// Instants as the browser picks them: a wall clock, of the reader's zone, which stands beside it. A value that nobody touches stays as it was,
// to the millisecond.
import { type Html, html } from '../../lib/html.ts';
import { iso } from '../../lib/time.ts';
import { type Field, field } from './form.ts';
import type { Visit } from './visit.ts';
import { atWallClock, wallClock } from './zone.ts';

/** `value`: an instant of the API; empty: none. */
export function instantField(visit: Visit, act: string, of: Omit<Field, 'rows'>): Html {
  const { name, value = '', hint } = of;
  const { zone } = visit.preferences;
  const told = `Time of ${zone}.`;
  const kept = value === '' ? '' : html`<input type="hidden" name="${keptName(name)}" value="${value}">`;
  return html`${field(visit, act, {
    ...of,
    value: value === '' ? '' : wallClock(Date.parse(value), zone),
    hint: hint === undefined ? told : `${hint} ${told}`,
    attributes: html`type="datetime-local" ${of.attributes ?? ''}`,
  })}${kept}`;
}

/** The instant that was picked; undefined: none. What is no wall clock goes on as it is, so that the capability says what is wrong with it. */
export function instantOf(form: URLSearchParams, name: string, { preferences: { zone } }: Visit): string | undefined {
  const text = form.get(name)?.trim() ?? '';
  if (text === '') return undefined;
  const kept = form.get(keptName(name));
  const keptMs = Date.parse(kept ?? '');
  if (kept !== null && !Number.isNaN(keptMs) && wallClock(keptMs, zone) === text) return kept;
  const ms = atWallClock(text.slice(0, 16), zone);
  return ms === null || text.endsWith('Z') ? text : iso(ms);
}

/** Seconds from now until the instant that was picked; undefined: none. Throws nothing: what is no instant is not a number, which is refused. */
export function secondsUntil(form: URLSearchParams, name: string, visit: Visit): number | string | undefined {
  const instant = instantOf(form, name, visit);
  if (instant === undefined) return undefined;
  const ms = Date.parse(instant);
  return Number.isNaN(ms) ? instant : Math.ceil((ms - visit.nowMs) / 1_000);
}

const keptName = (name: string) => `${name}_as_it_was`;
