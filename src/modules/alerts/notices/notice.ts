// What receivers are told of a rule: the JSON of URLs and queues, Slack's message, and mail. Labels and values are data wherever they stand.
import { firstCharacters } from '../../../lib/clean-text.ts';
import { escapeHtml, html } from '../../../lib/html.ts';
import { iso } from '../../../lib/time.ts';
import { TOLD_SERIES_MAX } from '../limits.ts';
import { labelsOf, type RuleRow } from '../rules/row.ts';
import { fillIn, valueText } from './template.ts';

export type NoticeKind = 'firing' | 'resolved' | 'unknown';

export interface ToldSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number | null;
}

export interface Notice {
  /** The same in every form of it. */
  readonly noticeId: string;
  readonly kind: NoticeKind;
  /** It was told before, and still fires. */
  readonly isRepeat: boolean;
  readonly atMs: number;
  readonly series: readonly ToldSeries[];
  /** Why it is unknown, or ended without having been looked at. */
  readonly words: string | null;
}

type Told = Pick<
  RuleRow,
  'rule' | 'title' | 'details' | 'severity' | 'labels' | 'runbook_url' | 'above' | 'below' | 'source'
>;

const TITLE_CHARACTERS_MAX = 500;
const DETAILS_CHARACTERS_MAX = 4_000;
const SUBJECT_CHARACTERS_MAX = 200;

export function rulePath(rule: string): string {
  return `/console/alerts/${encodeURIComponent(rule)}`;
}

/** As URLs and queues get it. */
export function noticeText(row: Told, notice: Notice, baseUrl: string): string {
  return JSON.stringify({
    type: `alert.${notice.kind}`,
    notice_id: notice.noticeId,
    rule: row.rule,
    title: titleOf(row, notice),
    details: detailsOf(row, notice),
    severity: row.severity,
    labels: labelsOf(row),
    above: row.above,
    below: row.below,
    at: iso(notice.atMs),
    repeated: notice.isRepeat,
    series: notice.series.slice(0, TOLD_SERIES_MAX),
    more_series: Math.max(0, notice.series.length - TOLD_SERIES_MAX),
    words: notice.words,
    runbook_url: row.runbook_url,
    url: `${baseUrl}${rulePath(row.rule)}`,
  });
}

const colours = { info: '#3b82f6', warning: '#f59e0b', critical: '#dc2626' } as const;

/** A message of Slack's incoming webhooks, which Mattermost and Discord take too. */
export function slackText(row: Told, notice: Notice, baseUrl: string): string {
  const title = escapeSlack(titleOf(row, notice));
  const details = detailsOf(row, notice);
  const lines = [
    ...(details === null ? [] : details.split('\n').map(escapeSlack)),
    ...seriesLines(row, notice).map(escapeSlack),
    ...(notice.words === null ? [] : [escapeSlack(notice.words)]),
  ];
  const links = [`<${baseUrl}${rulePath(row.rule)}|${escapeSlack(row.rule)}>`];
  if (row.runbook_url !== null) links.push(`<${slackUrl(row.runbook_url)}|Runbook>`);
  const color = notice.kind === 'resolved' ? '#16a34a' : colours[row.severity];
  const text = [...lines, links.join(' · ')].join('\n');
  return JSON.stringify({
    text: `*${headOf(notice)}*: ${title}`,
    attachments: [{ color, text, fallback: `${headOf(notice)}: ${title}`, mrkdwn_in: [] }],
  });
}

export function mailOf(row: Told, notice: Notice, baseUrl: string) {
  const title = titleOf(row, notice);
  const details = detailsOf(row, notice);
  const lines = seriesLines(row, notice);
  const facts = [
    `Rule: ${row.rule}`,
    `Severity: ${row.severity}`,
    `At: ${iso(notice.atMs)}`,
    ...(row.runbook_url === null ? [] : [`Runbook: ${row.runbook_url}`]),
  ];
  const link = `${baseUrl}${rulePath(row.rule)}`;
  const paragraphs = [
    title,
    ...(details === null ? [] : [details]),
    ...(notice.words === null ? [] : [notice.words]),
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
    facts.join('\n'),
    `The rule in the console: ${link}`,
  ];
  const body = html`<p><b>${headOf(notice)}</b>: ${title}</p>
${details === null ? '' : html`<p style="white-space:pre-line">${details}</p>`}
${notice.words === null ? '' : html`<p>${notice.words}</p>`}
${lines.length === 0 ? '' : html`<pre>${lines.join('\n')}</pre>`}
<p>${facts.map((fact) => html`${fact}<br>`)}</p>
<p><a href="${link}">The rule in the console</a></p>
`.text;
  const subject = firstCharacters(`[${headOf(notice)}] ${oneLine(title)}`, SUBJECT_CHARACTERS_MAX);
  return { subject, text: `${paragraphs.join('\n\n')}\n`, html: body };
}

function headOf({ kind, isRepeat }: Notice): string {
  if (kind === 'firing') return isRepeat ? 'Still firing' : 'Firing';
  return kind === 'resolved' ? 'Resolved' : 'Unknown';
}

/** Filled in from the first series and the labels of the rule. */
export function titleOf(row: Pick<Told, 'rule' | 'title' | 'labels'>, notice: Pick<Notice, 'series'>): string {
  return firstCharacters(filledIn(row.title ?? row.rule, row, notice), TITLE_CHARACTERS_MAX);
}

function detailsOf(row: Told, notice: Notice): string | null {
  return row.details === null ? null : firstCharacters(filledIn(row.details, row, notice), DETAILS_CHARACTERS_MAX);
}

function filledIn(text: string, row: Pick<Told, 'labels'>, { series: [first] }: Pick<Notice, 'series'>): string {
  return fillIn(text, { labels: { ...labelsOf(row), ...first?.labels }, value: first?.value ?? null });
}

/** `service=checkout: 17 (above 5)` */
function seriesLines({ above, below }: Told, { kind, series }: Notice): string[] {
  if (kind === 'unknown') return [];
  const bound = above !== null ? ` (above ${above})` : below !== null ? ` (below ${below})` : '';
  const told = series.slice(0, TOLD_SERIES_MAX).map(({ labels, value }) => {
    const names = Object.entries(labels).map(([name, text]) => `${name}=${text}`);
    const shown = kind === 'firing' ? `${valueText(value)}${bound}` : `now ${valueText(value)}`;
    return oneLine(names.length === 0 ? shown : `${names.join(', ')}: ${shown}`);
  });
  const more = series.length - told.length;
  return more > 0 ? [...told, `and ${more} more`] : told;
}

const oneLine = (text: string) => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ');

/** Slack's three characters; what it would read as a mention or a link begins with the first of them. */
function escapeSlack(text: string): string {
  return oneLine(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** An address in Slack's form of a link. */
const slackUrl = (url: string) => escapeHtml(url).replaceAll('|', '%7C');
