// The page of a group, dashboard_url: everything group_detail tells, for reading.
import { type Html, html } from '../../../lib/html.ts';
import type { Page, PageContent } from '../../../manifest/page.ts';
import type { GroupDetail } from '../groups/group-detail.ts';
import { activity, breadcrumbs, comments } from './history.ts';
import { distribution, grouped, instant, jsonBlock, shortened, since, sparkline } from './parts.ts';
import { exceptions, plainStack } from './stack.ts';

const TITLE_CHARACTERS_MAX = 1_000;
const MESSAGE_CHARACTERS_MAX = 10_000;
const FACT_CHARACTERS_MAX = 500;

type Event = NonNullable<GroupDetail['representative_event']>;

export const groupPage: Page = {
  name: 'errors.console',
  path: '/console/errors/{error_group_id}',
  capability: 'errors.group_detail',
  subject: 'error group',
  show: (data, nowMs) => contentOf(data as GroupDetail, nowMs),
};

/** `nowMs`: what "3 hours ago" counts from. */
function contentOf(group: GroupDetail, nowMs: number): PageContent {
  const event = group.representative_event;
  const content = html`${head(group)}
${overview(group)}
<div class="columns">
<div>
${event === null ? section('Latest event', html`<p class="quiet">Its events are past retention; the counts stay.</p>`) : latest(event)}
${group.comments.length === 0 ? '' : section('Comments', comments(group.comments))}
${group.activity_log.length === 0 ? '' : section('Activity', activity(group.activity_log))}
</div>
<aside aria-label="Facts and distributions">
${section('Group', groupFacts(group, nowMs))}
${distribution('Environments', group.environment_distribution, group.count)}
${distribution('Releases', group.release_distribution, group.count)}
${distribution('Users', group.user_distribution, group.count)}
${distribution('Tags', group.tag_distribution, group.count)}
</aside>
</div>`;
  return { title: shortened(group.title, 100), content };
}

function head(group: GroupDetail): Html {
  const status = group.is_resolved ? 'resolved' : 'unresolved';
  return html`<p class="badges"><span class="badge ${group.level}">${group.level}</span><span class="badge ${status}">${status}</span>${group.is_ignored ? html`<span class="badge">ignored</span>` : ''}</p>
<h1 dir="auto">${shortened(group.title, TITLE_CHARACTERS_MAX)}</h1>
<p class="quiet">Assigned to <bdi>${group.assigned_to ?? 'nobody'}</bdi></p>`;
}

function overview(group: GroupDetail): Html {
  const { current, previous, change_pct: change } = group.trend_24h;
  const changed = change === null ? '' : ` (${change > 0 ? '+' : ''}${change} %)`;
  return html`<section class="overview" aria-label="Counts">
<dl class="counts">
<div><dt>Events</dt><dd>${grouped(group.count)}</dd></div>
<div><dt>Users</dt><dd>${grouped(group.user_count)}</dd></div>
<div><dt>Last 24 hours</dt><dd>${grouped(current)}</dd></div>
<div><dt>24 hours before</dt><dd>${grouped(previous)}<span class="quiet">${changed}</span></dd></div>
</dl>
${sparkline(group.timeline)}
</section>`;
}

function groupFacts(group: GroupDetail, nowMs: number): Html {
  return facts([
    ['First seen', since(group.first_seen_at, nowMs)],
    ['Last seen', since(group.last_seen_at, nowMs)],
    ['Group', html`<code>${group.error_group_id}</code>`],
    ['Fingerprint', html`<code>${group.fingerprint}</code>`],
  ]);
}

function latest(event: Event): Html {
  const { exception, extra } = event;
  const stack = typeof extra.stack === 'string' && (exception?.stacktrace.length ?? 0) === 0 ? extra.stack : null;
  const { message } = event;
  const isTold = message === null || message === event.title || message === exception?.value;
  return html`${isTold ? '' : section('Message', html`<div class="text" dir="auto">${shortened(message, MESSAGE_CHARACTERS_MAX)}</div>`)}
${exception === null ? '' : section('Exception', html`${exceptions(exception)}`)}
${stack === null ? '' : section('Stack trace', plainStack(stack))}
${event.breadcrumbs.length === 0 ? '' : section('Breadcrumbs', breadcrumbs(event.breadcrumbs))}
${section('Latest event', eventFacts(event))}
${Object.keys(event.tags).length === 0 ? '' : section('Tags of the event', tags(event.tags))}
${data(event)}`;
}

function eventFacts(event: Event): Html {
  const text = (value: string | null) =>
    value === null ? null : html`<bdi>${shortened(value, FACT_CHARACTERS_MAX)}</bdi>`;
  return facts([
    ['Event', html`<code>${event.event_id}</code>`],
    ['Happened', instant(event.timestamp)],
    ['Received', instant(event.received_at)],
    ['Environment', text(event.environment)],
    ['Release', text(event.release)],
    ['User', text(event.user_id)],
    ['Idempotency key', text(event.idempotency_key)],
  ]);
}

function facts(entries: readonly (readonly [string, Html | null])[]): Html {
  const known = entries.flatMap(([name, value]) => (value === null ? [] : [html`<dt>${name}</dt><dd>${value}</dd>`]));
  return html`<dl class="facts">${known}</dl>`;
}

function tags(of: Event['tags']): Html {
  const rows = Object.entries(of).map(
    ([name, value]) =>
      html`<tr><th scope="row" dir="auto">${name}</th><td dir="auto">${shortened(value, FACT_CHARACTERS_MAX)}</td></tr>\n`,
  );
  return html`<table><caption class="unseen">Tags of the latest event</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead><tbody>${rows}</tbody></table>`;
}

function data(event: Event): Html {
  const { request, user, context, extra, sdk, runtime } = event;
  const blocks = Object.entries({
    Request: request,
    User: user,
    Context: context,
    Extra: extra,
    Runtime: runtime,
    SDK: sdk,
  })
    .filter(([, value]) => value !== null && Object.keys(value).length > 0)
    .map(
      ([name, value]) =>
        html`<details class="block"${name === 'Request' || name === 'User' ? html` open` : ''}><summary>${name}</summary>${jsonBlock(value, name)}</details>\n`,
    );
  return blocks.length === 0 ? html`` : section('Data', html`${blocks}`);
}

function section(title: string, content: Html): Html {
  return html`<section><h2>${title}</h2>${content}</section>`;
}
