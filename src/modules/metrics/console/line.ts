// A small line of a metric's last values. Its title says the range in figures.
import { figure } from '../../../kit/console/text.ts';
import { type Html, html } from '../../../lib/html.ts';

const WIDTH = 96;
const HEIGHT = 20;
const EDGE = 2;

/** Null: no value. Nothing where there is none at all. */
export function line(values: readonly (number | null)[], label: string): Html {
  const known = values.flatMap((value, i) => (value === null ? [] : [[i, value] as const]));
  const [first] = known;
  if (first === undefined) return html``;
  const numbers = known.map(([, value]) => value);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const x = (i: number) => (values.length < 2 ? 0 : (i / (values.length - 1)) * WIDTH);
  const y = (value: number) =>
    most === least ? HEIGHT / 2 : HEIGHT - EDGE - ((value - least) / (most - least)) * (HEIGHT - 2 * EDGE);
  const points = known.map(([i, value]) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`);
  // One value alone is a short dash.
  const drawn =
    known.length === 1
      ? [...points, `${Math.min(WIDTH, x(first[0]) + 3).toFixed(1)},${y(first[1]).toFixed(1)}`]
      : points;
  const told = least === most ? figure(most) : `${figure(least)} to ${figure(most)}`;
  return html`<svg class="spark" viewBox="0 0 ${String(WIDTH)} ${String(HEIGHT)}" width="${String(WIDTH)}" height="${String(HEIGHT)}" fill="none" stroke="currentColor" stroke-width="1.5" role="img" aria-label="${label}: ${told}"><polyline points="${drawn.join(' ')}"/></svg>`;
}
