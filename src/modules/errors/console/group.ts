// Shared parts of the list of error groups and the page of one group: path, badges and the acts that change its state.

import { badge } from '../../../kit/console/table.ts';
import { short } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { groups } from '../capabilities/groups.ts';

export type Group = ItemOf<typeof groups>;

export function groupPath(visit: Visit, id: string): string {
  return visit.path(`/errors/${encodeURIComponent(id)}`);
}

/** The type of what was thrown, where the title is a message that does not tell it. */
export function typeBefore({ title, exception_type: type }: Pick<Group, 'title' | 'exception_type'>): Html {
  return type === null || title.includes(type) ? html`` : html`<span class="quiet">${short(type, 80)}:</span> `;
}

export function levelOf({ level }: { readonly level: string }): Html {
  return badge(level, levelKind(level));
}

export function levelKind(level: string): Parameters<typeof badge>[1] {
  return level === 'fatal' || level === 'error' || level === 'critical'
    ? 'critical'
    : level === 'warning'
      ? 'warning'
      : 'plain';
}

export function stateOf({ is_resolved, is_ignored, reopened_at }: Group): Html {
  if (is_ignored) return badge('ignored', 'plain');
  // It came back after somebody had resolved it.
  if (reopened_at !== null) return badge('regressed', 'critical');
  return is_resolved ? badge('resolved', 'good') : badge('open', 'warning');
}

/** The acts that change the state of a group as it is now, and what their buttons say. */
export function stateActs({ is_resolved, is_ignored }: Group): readonly (readonly [act: string, label: string])[] {
  return [
    is_resolved ? ['unresolve', 'Reopen'] : ['resolve', 'Resolve'],
    is_ignored ? ['unignore', 'Stop ignoring'] : ['ignore', 'Ignore'],
  ];
}
