// The state of a rule or a series, as pages show it.
import { badge } from '../../../kit/console/table.ts';
import { time } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { list } from '../capabilities/rule/list.ts';

const tones = { ok: 'good', pending: 'warning', firing: 'critical', unknown: 'warning' } as const;

export function stateOf({ state }: Pick<ItemOf<typeof list>, 'state'>): Html {
  return badge(state, tones[state]);
}

export function silenceOf(visit: Visit, until: string | null): Html | '' {
  return until === null ? '' : html`Silenced until ${time(visit, until)}`;
}
