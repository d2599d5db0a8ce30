// History on an error group's page: breadcrumbs before the error, and comments and activity of the group.

import { type CallerNames, callerName } from '../../../kit/console/callers.ts';
import { badge } from '../../../kit/console/table.ts';
import { time } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { inZone } from '../../../kit/console/zone.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { get } from '../capabilities/get.ts';
import type { groupDetail } from '../capabilities/group-detail.ts';
import { levelKind } from './group.ts';
import { jsonBlock, shorten } from './json-block.ts';

type Breadcrumb = DataOf<typeof get>['breadcrumbs'][number];

type Comment = DataOf<typeof groupDetail>['comments'][number];

type Activity = DataOf<typeof groupDetail>['activity_log'][number];

const MESSAGE_CHARACTERS_MAX = 2_000;
const COMMENT_CHARACTERS_MAX = 10_000;

/** The latest last. */
export function breadcrumbs(visit: Pick<Visit, 'preferences'>, entries: readonly Breadcrumb[]): Html {
  return html`<table class="crumbs"><caption class="unseen">Breadcrumbs, the latest last</caption>
<thead><tr><th scope="col">Time</th><th scope="col">Category</th><th scope="col">Message</th></tr></thead>
<tbody>${entries.map((entry) => breadcrumb(visit, entry))}</tbody></table>`;
}

function breadcrumb(visit: Pick<Visit, 'preferences'>, { at, category, message, level, data }: Breadcrumb): Html {
  const more = html`<details><summary>Data</summary>${jsonBlock(data, 'Data of the breadcrumb')}</details>`;
  return html`<tr><td>${instant(visit, at)}</td>
<td dir="auto">${shorten(category, MESSAGE_CHARACTERS_MAX)}${level === null ? '' : html` ${badge(level, levelKind(level))}`}</td>
<td><div class="text" dir="auto">${shorten(message, MESSAGE_CHARACTERS_MAX)}</div>${data === null || Object.keys(data).length === 0 ? '' : more}</td></tr>\n`;
}

/** `2026-03-01 10:20:30 UTC` for an ISO instant, with the reader's zone as its title; what is none is shown as it was sent. */
export function instant({ preferences: { zone } }: Pick<Visit, 'preferences'>, text: string): Html {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return html`${text}`;
  const exact = new Date(ms).toISOString();
  return html`<time datetime="${exact}" title="${inZone(exact, zone)}">${exact.slice(0, 10)} ${exact.slice(11, 19)} UTC</time>`;
}

/** Who did something: by name where the key has one. */
function by(visit: Visit, keyId: string, names: CallerNames): Html {
  return html` by <bdi>${callerName(visit, keyId, names)}</bdi>`;
}

/** The newest first. */
export function comments(visit: Visit, entries: readonly Comment[], names: CallerNames): Html {
  return html`<ol class="plain">${entries.map(
    ({
      text,
      key_id,
      created_at,
    }) => html`<li class="card"><p class="quiet">${time(visit, created_at)}${by(visit, key_id, names)}</p>
<div class="text" dir="auto">${shorten(text, COMMENT_CHARACTERS_MAX)}</div></li>\n`,
  )}</ol>`;
}

const deeds: Readonly<Record<Activity['type'], (entry: Activity) => Html>> = {
  resolved: () => html`Resolved`,
  unresolved: () => html`Unresolved`,
  reopened: ({ event_id }) => html`Reopened by the event <code>${event_id ?? ''}</code>`,
  ignored: () => html`Ignored`,
  unignored: () => html`No longer ignored`,
  assigned: ({ assigned_to }) =>
    assigned_to === null ? html`Assigned to nobody` : html`Assigned to <bdi>${assigned_to}</bdi>`,
  commented: () => html`Commented`,
};

/** The newest first. */
export function activity(visit: Visit, entries: readonly Activity[], names: CallerNames): Html {
  return html`<ol class="plain">${entries.map(
    (entry) => html`<li>${deeds[entry.type](entry)}
<span class="quiet">${time(visit, entry.created_at)}${entry.key_id === null ? '' : by(visit, entry.key_id, names)}</span></li>\n`,
  )}</ol>`;
}
