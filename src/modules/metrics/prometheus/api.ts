// Prometheus' HTTP API over the account's metrics (prometheus.io/docs/prometheus/latest/querying/api), as far as Grafana's Prometheus source
// uses it, by GET and by POST forms. Each request is a call of one of this module's read capabilities.

import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { telemetryCredential } from '../../../kit/telemetry.ts';
import { iso } from '../../../lib/time.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { LISTED_MAX, QUERY_MS } from '../limits.ts';
import { LOOKBACK_MS } from '../promql/select.ts';
import { ask, list, matchersOf } from '../query/ask.ts';
import type { ListKind } from '../query/lists.ts';
import { metricsOf } from '../query/metrics-list.ts';
import { rangeOf, stepMs, timeMs } from '../query/times.ts';
import { NAME_LABEL } from '../series/identity.ts';
import { hourOf } from '../series/store.ts';
import type { MetricsState } from '../state.ts';
import { refuseAsPrometheus, success } from './answers.ts';
import { activeAlerts, ruleGroups } from './rules.ts';

const BASE = '/v1/metrics/prometheus/api/v1';
const FORM_BYTES_MAX = 64 * 1024;
/** Selectors of one request. */
const MATCHES_MAX = 10;

interface Call {
  readonly ctx: CallContext;
  readonly state: MetricsState;
  readonly form: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
}

function route(path: string, capability: string, run: (call: Call) => Promise<RawAnswer>): RawRoute<MetricsState> {
  return {
    name: 'metrics.prometheus',
    methods: ['GET', 'POST'],
    path: BASE + path,
    capability,
    bodyBytesMax: FORM_BYTES_MAX,
    credentialOf: telemetryCredential,
    async answer(request, state) {
      const ctx = request.ctx ?? (await request.admit(null));
      const answer = await run({ ctx, state, form: formOf(request), params: request.params });
      const { length } = answer.body as string;
      ctx.holdAnswer(length);
      request.weighAnswer(length);
      return answer;
    },
    refuse: refuseAsPrometheus,
  };
}

function formOf({ method, headers, body, query }: RawRequest): URLSearchParams {
  if (method !== 'POST') return query;
  const type = headers['content-type'] ?? '';
  if (body.length > 0 && !/^application\/x-www-form-urlencoded\b/i.test(type)) {
    throw problem('UNSUPPORTED_MEDIA_TYPE', { message: 'The content type must be application/x-www-form-urlencoded.' });
  }
  return new URLSearchParams([...query, ...new URLSearchParams(body.toString('utf8'))]);
}

function requiredField(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (value === null || value === '') throw invalidField(name, 'required', `${name} is missing.`);
  return value;
}

async function query({ ctx, state, form }: Call): Promise<RawAnswer> {
  const time = form.get('time');
  const at = time === null || time === '' ? Date.now() : timeMs(time, 'time');
  const range = { startMs: at, endMs: at, stepMs: 1 };
  return result(await ask(ctx, state, requiredField(form, 'query'), range, 'instant'));
}

async function queryRange({ ctx, state, form }: Call): Promise<RawAnswer> {
  const [start, end] = [timeMs(requiredField(form, 'start'), 'start'), timeMs(requiredField(form, 'end'), 'end')];
  const range = rangeOf(start, end, stepMs(requiredField(form, 'step')));
  return result(await ask(ctx, state, requiredField(form, 'query'), range, 'range'));
}

const result = ({ type, result: text }: { type: string; result: string }) =>
  success(`{"resultType":"${type}","result":${text}}`);

async function series(call: Call): Promise<RawAnswer> {
  if (call.form.getAll('match[]').length === 0) throw invalidField('match[]', 'required', 'match[] is missing.');
  return answerList(call, { of: 'series' });
}

async function labelValues(call: Call): Promise<RawAnswer> {
  const { ctx, state, form, params } = call;
  const label = params.label ?? '';
  if (label !== NAME_LABEL || form.getAll('match[]').length > 0) return answerList(call, { of: 'values', label });
  const sinceHour = hourOf(Math.max(await state.store.firstKeptMs(ctx.accountId), timeOf(form, 'start') ?? 0));
  const rows = await metricsOf(ctx.core.db, ctx.accountId, { ofSeries: true, sinceHour, limit: LISTED_MAX });
  return success(JSON.stringify(rows.map(({ name }) => name)));
}

function timeOf(form: URLSearchParams, name: string): number | null {
  const text = form.get(name);
  return text === null || text === '' ? null : timeMs(text, name);
}

async function answerList({ ctx, state, form }: Call, kind: ListKind): Promise<RawAnswer> {
  const matches = form.getAll('match[]');
  if (matches.length > MATCHES_MAX)
    throw invalidField('match[]', 'maxItems', `At most ${MATCHES_MAX} selectors are taken.`);
  const selectors = matches.length === 0 ? [[]] : await matchersOf(ctx, matches);
  const firstMs = await state.store.firstKeptMs(ctx.accountId);
  const time = { fromMs: Math.max(firstMs, timeOf(form, 'start') ?? 0), toMs: timeOf(form, 'end') ?? Date.now() };
  const asked = Number(form.get('limit') ?? 0);
  const limit = Number.isInteger(asked) && asked > 0 ? Math.min(asked, LISTED_MAX) : LISTED_MAX;
  const { list: text, isCut } = await list(ctx, kind, selectors, time, limit);
  return success(text, isCut ? [`results truncated: only the first ${limit} are answered`] : []);
}

async function metadata({ ctx, state, form }: Call): Promise<RawAnswer> {
  const name = form.get('metric');
  const asked = Number(form.get('limit') ?? 0);
  const limit = Number.isInteger(asked) && asked > 0 ? Math.min(asked, LISTED_MAX) : LISTED_MAX;
  const sinceHour = hourOf(await state.store.firstKeptMs(ctx.accountId));
  const named = name === null || name === '' ? {} : { name };
  const rows = await metricsOf(ctx.core.db, ctx.accountId, { ...named, sinceHour, limit });
  const known = rows.filter(({ type, help }) => type !== null || help !== null);
  const entries = known.map(({ name: metric, type, help, unit }) => [
    metric,
    [{ type: type ?? 'unknown', help: help ?? '', unit: unit ?? '' }],
  ]);
  return success(JSON.stringify(Object.fromEntries(entries)));
}

/** What Grafana looks at to know which functions there are: those of Prometheus 2.42. */
const BUILD = { version: '2.42.0', revision: '', branch: '', buildUser: 'quartermaster', buildDate: '', goVersion: '' };

async function rules({ ctx, form }: Call): Promise<RawAnswer> {
  const kind = form.get('type');
  if (kind !== null && !['', 'alert', 'record'].includes(kind))
    throw invalidField('type', 'enum', 'type is alert or record.');
  return listAnswer(await ruleGroups(ctx, kind));
}

const alerts = async ({ ctx }: Call) => listAnswer(await activeAlerts(ctx));

function listAnswer({ text, isCut }: { readonly text: string; readonly isCut: boolean }): RawAnswer {
  return success(text, isCut ? ['results truncated: there are more rules'] : []);
}

const daysKept = async ({ ctx, state }: Call) => `${await state.store.keepDays(ctx.core.db, ctx.accountId)}d`;

/** What concerns a server of one's own alone is empty. */
async function runtimeInfo(call: Call): Promise<RawAnswer> {
  const startTime = iso(performance.timeOrigin);
  const server = { startTime, CWD: '', reloadConfigSuccess: true, lastConfigTime: startTime, corruptionCount: 0 };
  const go = { goroutineCount: 0, GOMAXPROCS: 0, GOGC: '', GODEBUG: '' };
  return success(JSON.stringify({ ...server, ...go, storageRetention: await daysKept(call) }));
}

/** Those that say how queries are answered, by the names of Prometheus' command line. */
async function flags(call: Call): Promise<RawAnswer> {
  const known = {
    'query.lookback-delta': `${LOOKBACK_MS / 60_000}m`,
    'query.timeout': `${QUERY_MS / 1_000}s`,
    'storage.tsdb.retention.time': await daysKept(call),
    'web.enable-admin-api': 'false',
    'web.enable-lifecycle': 'false',
    'web.enable-remote-write-receiver': 'true',
  };
  return success(JSON.stringify(known));
}

/** Nothing is scraped: metrics are sent. */
const TARGETS = '{"activeTargets":[],"droppedTargets":[]}';

export const apiRoutes: readonly RawRoute<MetricsState>[] = [
  route('/query', 'metrics.query', query),
  route('/query_range', 'metrics.query_range', queryRange),
  route('/series', 'metrics.series.list', series),
  route('/labels', 'metrics.labels', (call) => answerList(call, { of: 'labels' })),
  route('/label/{label}/values', 'metrics.labels', labelValues),
  route('/metadata', 'metrics.list', metadata),
  route('/query_exemplars', 'metrics.query', async () => success('[]')),
  route('/rules', 'metrics.list', rules),
  route('/alerts', 'metrics.list', alerts),
  route('/targets', 'metrics.list', async () => success(TARGETS)),
  route('/status/buildinfo', 'metrics.list', async () => success(JSON.stringify(BUILD))),
  route('/status/runtimeinfo', 'metrics.list', runtimeInfo),
  route('/status/flags', 'metrics.list', flags),
];
