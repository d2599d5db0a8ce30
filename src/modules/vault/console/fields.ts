// The form of a connection, for a new one and for changes: its kind, the secret, and the rule of its use.
import { checkboxes, field, numberOf, sentOf, textOf } from '../../../kit/console/form.ts';
import { instantField, instantOf } from '../../../kit/console/instant-field.ts';
import { NEW } from '../../../kit/console/new.ts';
import { queueField } from '../../../kit/console/pick.ts';
import { tabs, withQuery } from '../../../kit/console/table.ts';
import type { Callable, Input, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { invalidField } from '../../../problems/problem.ts';
import { type Connection, kindLabels } from './connection.ts';
import { secretFields, secretOf } from './secrets.ts';

export const HOSTS_HINT =
  'Where the secret may be sent, one on each line: api.github.com, or *.example.org for all below it.';
export const ALLOW_HINT =
  'One on each line, methods and a path: GET, POST /repos/*/issues. * stands for any characters. Empty: every call.';
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const KEYS_OFFERED = 100;
const keysList: Callable = { id: 'account.keys.list' };
const plain = html`spellcheck="false" autocapitalize="off" autocomplete="off"`;
const digits = html`inputmode="numeric"`;

/** As the form was sent, else as its address says, else as the connection is. */
function kindOf(visit: Visit, act: string, connection: Connection | undefined): string {
  const asked = sentOf(visit, act, 'kind') ?? visit.query.get('kind') ?? '';
  return Object.hasOwn(kindLabels, asked) ? asked : (connection?.kind ?? 'bearer');
}

/** Links that show the form of another kind. */
function kindTabs(visit: Visit, here: string, isNew: boolean): Html {
  return tabs(
    'Kind of credential',
    Object.entries(kindLabels).map(([kind, text]) => ({
      text,
      href: withQuery(visit, isNew ? { [NEW]: '1', kind } : { kind }),
      isHere: kind === here,
    })),
  );
}

/** All but the name. */
export async function connectionFields(visit: Visit, act: string, connection?: Connection): Promise<Html> {
  const kind = kindOf(visit, act, connection);
  const { per_minute: minute = null, per_day: day = null } = connection?.limits ?? {};
  const [keys, notify] = await Promise.all([
    keyOptions(visit, connection?.keys ?? []),
    queueField(visit, act, {
      name: 'notify.queue',
      label: 'Queue that is told when it breaks',
      value: connection?.notify?.queue ?? '',
      hint: 'Empty: none.',
    }),
  ]);
  return html`${kindTabs(visit, kind, connection === undefined)}<input type="hidden" name="kind" value="${kind}">
${fieldField(visit, act, kind, connection)}
${secretFields(visit, act, { kind, isNew: connection === undefined, hint: secretHint(connection) })}
${field(visit, act, { name: 'hosts', label: 'Hosts', value: (connection?.hosts ?? []).join('\n'), rows: 2, isRequired: true, hint: HOSTS_HINT })}
${field(visit, act, { name: 'allow', label: 'Allowed calls', value: allowText(connection), rows: 4, hint: ALLOW_HINT })}
${checkboxes(visit, act, { name: 'keys', label: 'Keys', hint: 'None chosen: every key with the scope vault.call.', options: keys, chosen: connection?.keys ?? [] })}
<div class="pair">${field(visit, act, { name: 'limits.per_minute', label: 'Calls a minute', value: minute === null ? '' : String(minute), hint: 'Of all keys together. Empty: no limit.', attributes: digits })}
${field(visit, act, { name: 'limits.per_day', label: 'Calls a day', value: day === null ? '' : String(day), hint: 'From midnight, UTC. Empty: no limit.', attributes: digits })}</div>
${checkboxes(visit, act, { name: 'approve', label: 'A person approves', hint: 'Calls by these methods wait until somebody decides. GET includes HEAD.', options: approveOptions(connection), chosen: connection?.approve ?? [] })}
${instantField(visit, act, { name: 'expires_at', label: 'Expires', value: connection?.expires_at ?? '', hint: 'Empty: never.' })}
${notify}`;
}

function secretHint(connection: Connection | undefined): string {
  return connection === undefined
    ? 'It is encrypted, and never shown again.'
    : 'Empty: it stays, and the rule can only be narrowed. Type it to change anything else.';
}

function fieldField(visit: Visit, act: string, kind: string, connection: Connection | undefined): Html {
  if (kind !== 'header' && kind !== 'query') return html``;
  const [label, hint] =
    kind === 'header'
      ? ['Header', 'That holds the secret, such as X-Api-Key.']
      : ['Query parameter', 'That holds the secret, such as api_key.'];
  const value = connection?.field ?? '';
  return field(visit, act, { name: 'field', label, hint, value, isRequired: true, attributes: plain });
}

/** Keys that work, and those that the rule names. */
async function keyOptions(visit: Visit, named: readonly string[]): Promise<readonly (readonly [string, string])[]> {
  const { data } = visit.may(keysList) ? await visit.call(keysList, { limit: KEYS_OFFERED }) : { data: null };
  const { items } = (data ?? { items: [] }) as {
    readonly items: readonly { readonly key_id: string; readonly name: string | null; readonly status: string }[];
  };
  const offered = items
    .filter(({ key_id: id, status }) => ['active', 'rotating'].includes(status) || named.includes(id))
    .map(({ key_id: id, name }) => [id, name ?? id] as const);
  const unknown = named.filter((id) => !offered.some(([key]) => key === id));
  return [...offered, ...unknown.map((id) => [id, id] as const)];
}

function approveOptions(connection: Connection | undefined): readonly (readonly [string, string])[] {
  const others = (connection?.approve ?? []).filter((method) => method !== '*' && !METHODS.includes(method));
  return [['*', 'every method'], ...[...METHODS, ...others].map((method) => [method, method] as const)];
}

function allowText(connection: Connection | undefined): string {
  return (connection?.allow ?? []).map(({ methods, path }) => `${methods.join(', ')} ${path}`).join('\n');
}

/** The input of vault.connection.set. Throws VALIDATION_FAILED. */
export function connectionOf(form: URLSearchParams, name: string | undefined, visit: Visit): Input {
  const kind = textOf(form, 'kind') ?? '';
  const [keys, queue] = [form.getAll('keys'), textOf(form, 'notify.queue')];
  return {
    connection: name,
    kind,
    secret: secretOf(form, kind),
    field: textOf(form, 'field'),
    hosts: linesOf(form, 'hosts'),
    allow: allowOf(form),
    keys: keys.length === 0 ? null : keys,
    limits: {
      per_minute: numberOf(form, 'limits.per_minute') ?? null,
      per_day: numberOf(form, 'limits.per_day') ?? null,
    },
    approve: form.getAll('approve'),
    notify: queue === undefined ? null : { queue },
    expires_at: instantOf(form, 'expires_at', visit) ?? null,
  };
}

export function linesOf(form: URLSearchParams, name: string): string[] {
  return (form.get(name) ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Throws VALIDATION_FAILED that names the line. */
export function allowOf(form: URLSearchParams) {
  const lines = linesOf(form, 'allow');
  return lines.length === 0 ? undefined : lines.map(allowEntry);
}

/** `GET, POST /repos/*`: a path may hold spaces, methods hold no slash. */
function allowEntry(line: string, n: number) {
  const slash = line.indexOf('/');
  const methods = line
    .slice(0, Math.max(0, slash))
    .split(/[\s,]+/)
    .filter((method) => method !== '')
    .map((method) => method.toUpperCase());
  if (methods.length === 0)
    throw invalidField(
      'allow',
      'format',
      `Line ${n + 1} of the allowed calls is written as methods and a path: GET, POST /repos/*/issues.`,
    );
  return { methods, path: line.slice(slash) };
}
