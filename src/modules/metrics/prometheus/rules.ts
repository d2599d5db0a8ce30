// Alert rules of metrics in the form of Prometheus' API: a group for each interval. A key that may not list rules of alerts sees none.
import { scopesAllow } from '../../../core/callers/scopes.ts';
import type { CallContext } from '../../../kit/services.ts';

const LIST = 'alerts.rule.list';
const PAGE = 100;
/** What is beyond is left out, with a warning. */
const TEXT_CHARACTERS_MAX = 4 * 1024 * 1024;
const FILE = 'alerts';

/** Of a rule as alerts.rule.list answers it, what is shown. */
interface ListedRule {
  readonly rule: string;
  readonly title: string | null;
  readonly when: { readonly metrics?: { readonly query: string } };
  readonly above: number | null;
  readonly below: number | null;
  readonly for_seconds: number;
  readonly every_seconds: number;
  readonly severity: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly runbook_url: string | null;
  readonly state: 'ok' | 'pending' | 'firing' | 'unknown';
  readonly series: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly state: string;
    readonly since: string;
    readonly value: number | null;
  }[];
  readonly words: string | null;
  readonly looked_at: string | null;
  readonly took_ms: number;
}

interface ListedPage {
  readonly items: readonly ListedRule[];
  readonly next_cursor: string | null;
}

/** JSON, and whether something is left out. */
interface Listed {
  readonly text: string;
  readonly isCut: boolean;
}

export async function ruleGroups(ctx: CallContext, kind: string | null): Promise<Listed> {
  const groups = new Map<number, string[]>();
  const add = (rule: ListedRule) => {
    const text = JSON.stringify(ruleOf(rule));
    groups.set(rule.every_seconds, [...(groups.get(rule.every_seconds) ?? []), text]);
    return text.length;
  };
  const isCut = kind === 'record' ? false : await eachRule(ctx, add);
  const texts = [...groups].map(([seconds, rules]) => {
    const head = JSON.stringify({ name: `every ${seconds}s`, file: FILE, interval: seconds, limit: 0 });
    return `${head.slice(0, -1)},"rules":[${rules.join(',')}]}`;
  });
  return { text: `{"groups":[${texts.join(',')}]}`, isCut };
}

export async function activeAlerts(ctx: CallContext): Promise<Listed> {
  const texts: string[] = [];
  const isCut = await eachRule(ctx, (rule) => {
    const added = alertsOf(rule).map((alert) => JSON.stringify(alert));
    texts.push(...added);
    return added.reduce((sum, { length }) => sum + length, 0);
  });
  return { text: `{"alerts":[${texts.join(',')}]}`, isCut };
}

/** Hands over each rule of metrics; what it answers is the length that it adds. True: not all were. */
async function eachRule(ctx: CallContext, add: (rule: ListedRule) => number): Promise<boolean> {
  const kind = ctx.core.knownScopes.kinds.get(LIST);
  if (kind === undefined || !scopesAllow(ctx.principal.scopes, LIST, kind)) return false;
  let cursor: string | null = null;
  let characters = 0;
  do {
    const from = cursor === null ? {} : { cursor };
    const page = (await ctx.invoke(LIST, { limit: PAGE, ...from })).data as ListedPage;
    for (const rule of page.items) {
      if (rule.when.metrics === undefined) continue;
      if (characters > TEXT_CHARACTERS_MAX) return true;
      characters += add(rule);
    }
    cursor = page.next_cursor;
  } while (cursor !== null);
  return false;
}

const prometheusState = { ok: 'inactive', unknown: 'inactive', pending: 'pending', firing: 'firing' } as const;

function ruleOf(rule: ListedRule) {
  return {
    state: prometheusState[rule.state],
    name: rule.rule,
    query: expressionOf(rule),
    duration: rule.for_seconds,
    labels: labelsOf(rule),
    annotations: annotationsOf(rule),
    alerts: alertsOf(rule),
    health: rule.state === 'unknown' ? 'err' : rule.looked_at === null ? 'unknown' : 'ok',
    ...(rule.state === 'unknown' && rule.words !== null ? { lastError: rule.words } : {}),
    evaluationTime: rule.took_ms / 1_000,
    lastEvaluation: rule.looked_at ?? '0001-01-01T00:00:00Z',
    type: 'alerting',
  };
}

function alertsOf(rule: ListedRule) {
  return rule.series
    .filter(({ state }) => state === 'pending' || state === 'firing')
    .map(({ labels, state, since, value }) => ({
      labels: { ...labels, ...labelsOf(rule), alertname: rule.rule },
      annotations: annotationsOf(rule),
      state,
      activeAt: since,
      value: value === null ? 'NaN' : exponentForm(value),
    }));
}

/** The bound is part of the expression there. */
function expressionOf({ when, above, below }: ListedRule): string {
  const query = when.metrics?.query ?? '';
  if (above !== null) return `(${query}\n) > ${above}`;
  return below !== null ? `(${query}\n) < ${below}` : query;
}

const labelsOf = ({ severity, labels }: ListedRule) => ({ severity, ...labels });

function annotationsOf({ title, runbook_url: runbook }: ListedRule) {
  return {
    ...(title === null ? {} : { summary: title }),
    ...(runbook === null ? {} : { runbook_url: runbook }),
  };
}

/** As Go writes it: `1e+00`. */
function exponentForm(value: number): string {
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}
