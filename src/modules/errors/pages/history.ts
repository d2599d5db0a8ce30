// What happened before the error, and what people did about the group since.
import { type Html, html } from '../../../lib/html.ts';
import type { GroupDetail } from '../groups/group-detail.ts';
import type { DatedBreadcrumb } from '../intake/draft.ts';
import { instant, jsonBlock, shortened } from './parts.ts';

const MESSAGE_CHARACTERS_MAX = 2_000;
const COMMENT_CHARACTERS_MAX = 10_000;

/** The latest last. */
export function breadcrumbs(entries: readonly DatedBreadcrumb[]): Html {
  return html`<table class="crumbs"><caption class="unseen">Breadcrumbs, the latest last</caption>
<thead><tr><th scope="col">Time</th><th scope="col">Category</th><th scope="col">Message</th></tr></thead>
<tbody>${entries.map(breadcrumb)}</tbody></table>`;
}

function breadcrumb({ at, category, message, level, data }: DatedBreadcrumb): Html {
  const more = html`<details><summary>Data</summary>${jsonBlock(data, 'Data of the breadcrumb')}</details>`;
  return html`<tr><td>${instant(at)}</td>
<td dir="auto">${shortened(category, MESSAGE_CHARACTERS_MAX)}${level === null ? '' : html` <span class="badge ${level}">${level}</span>`}</td>
<td><div class="text" dir="auto">${shortened(message, MESSAGE_CHARACTERS_MAX)}</div>${data === null || Object.keys(data).length === 0 ? '' : more}</td></tr>\n`;
}

/** The newest first. */
export function comments(entries: GroupDetail['comments']): Html {
  return html`<ol class="plain">${entries.map(
    ({
      text,
      key_id,
      created_at,
    }) => html`<li class="card"><p class="quiet">${instant(created_at)} by <code>${key_id}</code></p>
<div class="text" dir="auto">${shortened(text, COMMENT_CHARACTERS_MAX)}</div></li>\n`,
  )}</ol>`;
}

type Activity = GroupDetail['activity_log'][number];

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
export function activity(entries: GroupDetail['activity_log']): Html {
  return html`<ol class="plain">${entries.map(
    (entry) => html`<li>${deeds[entry.type](entry)}
<span class="quiet">${instant(entry.created_at)}${entry.key_id === null ? '' : html` by <code>${entry.key_id}</code>`}</span></li>\n`,
  )}</ol>`;
}
