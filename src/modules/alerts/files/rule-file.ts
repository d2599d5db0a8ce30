// Parser of a rule file of Prometheus (prometheus.io/docs/prometheus/2.42/configuration/alerting_rules), or of its operator's PrometheusRule: YAML,
// JSON included. What a rule of ours cannot say is named. It is read in a thread: 50 KB of YAML take some 50 ms.
import { createHash } from 'node:crypto';
import { firstCharacters } from '../../../lib/clean-text.ts';
import { readYaml } from '../../../lib/yaml.ts';
import { invalidField } from '../../../problems/problem.ts';
import {
  DETAILS_CHARACTERS_MAX,
  EVERY_SECONDS,
  FOR_SECONDS_MAX,
  IMPORT_RULES_MAX,
  LABEL_CHARACTERS_MAX,
  LABELS_MAX,
  TITLE_CHARACTERS_MAX,
  URL_CHARACTERS_MAX,
} from '../limits.ts';
import { unknownActions } from '../notices/template.ts';
import type { Severity } from '../schemas.ts';

/** The annotation that names a rule of ours in a file that this service wrote. */
export const NAME_ANNOTATION = 'quartermaster_rule';

/** A rule of the file, as a call of alerts.rule.set says it. */
export interface FileRule {
  readonly rule: string;
  readonly group: string;
  readonly alert: string;
  readonly query: string;
  readonly for_seconds: number;
  readonly keep_firing_seconds: number;
  readonly every_seconds: number;
  readonly title: string | null;
  readonly details: string | null;
  readonly severity: Severity;
  readonly labels: Readonly<Record<string, string>>;
  readonly runbook_url: string | null;
}

/** `part`: of the rule; null: all of it. */
export interface LeftOut {
  readonly group: string;
  readonly alert: string;
  readonly part: string | null;
  readonly reason: string;
}

export interface RuleFile {
  readonly rules: readonly FileRule[];
  readonly leftOut: readonly LeftOut[];
}

type Members = Readonly<Record<string, unknown>>;
type Report = (part: string | null, reason: string) => void;

const NAME_CHARACTERS_MAX = 128;
const HASH_CHARACTERS = 8;
const TOLD_CHARACTERS_MAX = 200;
const LABEL = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const DURATION = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;
const UNIT_SECONDS = [31_536_000, 604_800, 86_400, 3_600, 60, 1, 0.001];
const GROUP_FIELDS = new Set(['name', 'interval', 'rules']);
const RULE_FIELDS = new Set(['alert', 'expr', 'for', 'keep_firing_for', 'labels', 'annotations']);
/** Annotations that are one text of a rule of ours, the first of them that is there. */
const TITLES = ['summary', 'title', 'message'];
const DETAILS = ['description', 'message'];
const RUNBOOKS = ['runbook_url', 'runbook'];
const SEVERITIES: Readonly<Record<string, Severity>> = {
  critical: 'critical',
  page: 'critical',
  error: 'critical',
  warning: 'warning',
  ticket: 'warning',
  info: 'info',
  none: 'info',
};

/** Throws VALIDATION_FAILED for what is no rule file. */
export function readRuleFile(text: string): RuleFile {
  const document = readYaml(text);
  const [fault] = document.faults;
  if (fault !== undefined)
    throw invalidField('file', 'format', `Line ${fault.line}, column ${fault.column}: ${fault.message}`);
  const { groups = membersOf(membersOf(document.value).spec).groups } = membersOf(document.value);
  if (!Array.isArray(groups))
    throw invalidField('file', 'format', 'A rule file has groups: a list of groups of rules.');
  const rules: FileRule[] = [];
  const leftOut: LeftOut[] = [];
  let sent = 0;
  for (const [at, each] of groups.entries()) {
    const group = membersOf(each);
    const name = shownText(textOf(group.name) ?? `groups[${at}]`);
    const listed = group.rules ?? [];
    if (!Array.isArray(listed)) throw invalidField('file', 'format', `rules of the group ${name} are no list.`);
    sent += listed.length;
    if (sent > IMPORT_RULES_MAX)
      throw invalidField('file', 'too_long', `A file may have at most ${IMPORT_RULES_MAX} rules: send several.`);
    for (const field of Object.keys(group).filter((key) => !GROUP_FIELDS.has(key)))
      leftOut.push({ group: name, alert: '', part: shownText(field), reason: 'Groups have no such field here.' });
    const everySeconds = intervalOf(group.interval, (part, reason) =>
      leftOut.push({ group: name, alert: '', part, reason }),
    );
    for (const rule of listed) {
      const read = readRule(membersOf(rule), { group: name, everySeconds }, leftOut);
      if (read !== null) rules.push(read);
    }
  }
  return { rules: withNames(rules), leftOut };
}

function readRule(
  sent: Members,
  { group, everySeconds }: { readonly group: string; readonly everySeconds: number },
  leftOut: LeftOut[],
): FileRule | null {
  const alert = textOf(sent.alert) ?? '';
  const report: Report = (part, reason) =>
    leftOut.push({ group, alert: shownText(alert === '' ? (textOf(sent.record) ?? '') : alert), part, reason });
  const leave = (reason: string) => {
    report(null, reason);
    return null;
  };
  if (sent.record !== undefined) return leave('A recording rule: expressions are not stored as series here.');
  if (alert === '') return leave('A rule names an alert.');
  const query = textOf(sent.expr);
  if (query === null) return leave('expr is a text.');
  const seconds = durationOf(sent.for ?? 0);
  if (seconds === null) return leave('for is a duration, such as 5m.');
  if (seconds > FOR_SECONDS_MAX) return leave(`for may be at most ${FOR_SECONDS_MAX / 3_600}h.`);
  for (const field of Object.keys(sent).filter((key) => !RULE_FIELDS.has(key)))
    report(shownText(field), 'Rules have no such field here.');
  const keepSeconds = durationOf(sent.keep_firing_for ?? 0);
  if (keepSeconds === null || keepSeconds > FOR_SECONDS_MAX)
    report('keep_firing_for', 'It is a duration of at most 24h.');
  const annotations = textsOf(sent.annotations, 'annotations', report);
  return {
    rule: annotations[NAME_ANNOTATION] ?? '',
    group,
    alert: shownText(alert),
    query: query.trim(),
    for_seconds: Math.ceil(seconds),
    keep_firing_seconds: keepSeconds === null || keepSeconds > FOR_SECONDS_MAX ? 0 : Math.ceil(keepSeconds),
    every_seconds: everySeconds,
    ...labelsOf(textsOf(sent.labels, 'labels', report), report),
    ...wordsOf(annotations, report),
  };
}

/** Severity stands by itself here. */
function labelsOf(
  { severity, ...others }: Readonly<Record<string, string>>,
  report: Report,
): Pick<FileRule, 'severity' | 'labels'> {
  const known = severity === undefined ? 'warning' : SEVERITIES[severity.toLowerCase()];
  const all = known === undefined ? { severity: severity as string, ...others } : others;
  const labels: Record<string, string> = {};
  for (const [name, value] of Object.entries(all)) {
    const fault = labelFault(name, value, Object.keys(labels).length);
    if (fault === null) labels[name] = value;
    else report(`labels.${shownText(name)}`, fault);
  }
  return { severity: known ?? 'warning', labels };
}

function labelFault(name: string, value: string, taken: number): string | null {
  if (!LABEL.test(name)) return 'A label is letters, digits and _, and begins with no digit.';
  if (value.length > LABEL_CHARACTERS_MAX || /[\p{Cc}\p{Cs}]/u.test(value))
    return `Its value has control characters, or more than ${LABEL_CHARACTERS_MAX}.`;
  if (/\{\{/.test(value)) return 'Labels of a rule are as they are written: a template in one is not filled in.';
  return taken >= LABELS_MAX ? `A rule has at most ${LABELS_MAX} labels.` : null;
}

function wordsOf(
  annotations: Readonly<Record<string, string>>,
  report: Report,
): Pick<FileRule, 'title' | 'details' | 'runbook_url'> {
  const first = (names: readonly string[], but?: string) =>
    names.find((name) => name !== but && annotations[name] !== undefined);
  const title = first(TITLES);
  const details = first(DETAILS, title);
  const runbook = first(RUNBOOKS);
  const used = new Set([title, details, runbook, NAME_ANNOTATION]);
  for (const name of Object.keys(annotations).filter((key) => !used.has(key)))
    report(`annotations.${shownText(name)}`, 'A rule has a title, details and an address of a runbook.');
  for (const name of [title, details])
    for (const action of name === undefined ? [] : unknownActions(annotations[name] as string))
      report(`annotations.${name}`, `${shownText(action)} stays as it is written.`);
  const address = runbook === undefined ? null : (annotations[runbook] as string).trim();
  const isAddress = address === null || (/^https?:\/\/[^\s]+$/.test(address) && address.length <= URL_CHARACTERS_MAX);
  if (!isAddress) report(`annotations.${runbook}`, 'It is no address that begins with http:// or https://.');
  return {
    title: title === undefined ? null : firstCharacters(oneLine(annotations[title] as string), TITLE_CHARACTERS_MAX),
    details:
      details === undefined ? null : firstCharacters(lines(annotations[details] as string), DETAILS_CHARACTERS_MAX),
    runbook_url: isAddress ? address : null,
  };
}

function intervalOf(sent: unknown, report: Report): number {
  if (sent === undefined) return EVERY_SECONDS.usual;
  const seconds = durationOf(sent);
  const bounded = Math.min(Math.max(Math.round(seconds ?? EVERY_SECONDS.usual), EVERY_SECONDS.min), EVERY_SECONDS.max);
  if (bounded !== seconds)
    report(
      'interval',
      `Rules are looked at every ${EVERY_SECONDS.min} s to ${EVERY_SECONDS.max} s: these every ${bounded} s.`,
    );
  return bounded;
}

/** Names of ours: the group and the alert, with severity or a number where a file has them twice. The same in each reading of the file. */
function withNames(rules: readonly FileRule[]): FileRule[] {
  const taken = new Set<string>();
  return rules.map((each) => {
    const plain = each.rule === '' ? `${each.group}.${each.alert}` : each.rule;
    const wanted = [plain, `${plain}.${each.severity}`];
    for (let n = 2; n <= rules.length + 1; n += 1) wanted.push(`${plain}.${n}`);
    const rule = wanted.map(nameOf).find((name) => !taken.has(name)) as string;
    taken.add(rule);
    return { ...each, rule };
  });
}

function nameOf(text: string): string {
  const name = text.replaceAll(/[^A-Za-z0-9_.:-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '') || 'rule';
  if (name.length <= NAME_CHARACTERS_MAX) return name;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARACTERS);
  return `${name.slice(0, NAME_CHARACTERS_MAX - HASH_CHARACTERS - 1)}-${hash}`;
}

/** Seconds; null: it is no duration. */
function durationOf(sent: unknown): number | null {
  if (sent === 0) return 0;
  const parts = typeof sent === 'string' && sent !== '' ? DURATION.exec(sent) : null;
  if (parts === null) return sent === '0' ? 0 : null;
  return UNIT_SECONDS.reduce((sum, unit, i) => sum + Number(parts[i + 1] ?? 0) * unit, 0);
}

function textsOf(sent: unknown, part: string, report: Report): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(membersOf(sent))) {
    const text = textOf(value);
    if (text === null) report(`${part}.${shownText(name)}`, 'It is no text.');
    else texts[name] = text;
  }
  return texts;
}

function membersOf(value: unknown): Members {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Members) : {};
}

/** A number or a boolean is a text without quotes. */
function textOf(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : null;
}

const oneLine = (text: string) => text.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ').trim();
const lines = (text: string) => text.replaceAll(/[^\P{Cc}\n]+|\p{Cs}+/gu, ' ').trim();
const shownText = (text: string) => firstCharacters(oneLine(text), TOLD_CHARACTERS_MAX);
