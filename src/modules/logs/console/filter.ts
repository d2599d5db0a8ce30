// The filters of the page of logs: they stand in its address, under the names of the API. Times that its form sends are of the reader's zone.
import { withQuery } from '../../../kit/console/table.ts';
import { count, short } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { atWallClock, inZone, wallClock } from '../../../kit/console/zone.ts';
import { type Html, html } from '../../../lib/html.ts';
import { iso } from '../../../lib/time.ts';

const ATTRIBUTE = 'filter.';
/** Also under the name that the field had. */
const ATTRIBUTES = /^(?:filter|attributes)\./;
const TEXTS = ['q', 'service', 'level', 'trace_id', 'from', 'to'];
const TIMES = ['from', 'to'];
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** What the address asks for, by its names. */
export function filterOf({ query, preferences: { zone } }: Visit): Record<string, string> {
  const pairs = [...query].filter(([name, value]) => value !== '' && (TEXTS.includes(name) || ATTRIBUTES.test(name)));
  return Object.fromEntries(
    pairs.map(([name, value]) => {
      const text = value.trim();
      return [name.replace(ATTRIBUTES, ATTRIBUTE), TIMES.includes(name) ? instantOf(text, zone) : text];
    }),
  );
}

/** A time without a zone is of the reader's, as its field has it; what is none is left to the call to refuse. */
function instantOf(text: string, zone: string): string {
  const ms = atWallClock(text, zone);
  return ms === null ? text : iso(ms);
}

/** The same as the API takes it. */
export function questionOf(visit: Visit): Record<string, string | Record<string, string>> {
  const pairs = Object.entries(filterOf(visit));
  const isAttribute = ([name]: readonly [string, string]) => name.startsWith(ATTRIBUTE);
  const wanted = pairs.filter(isAttribute).map(([name, value]) => [name.slice(ATTRIBUTE.length), value]);
  const others = Object.fromEntries(pairs.filter((pair) => !isAttribute(pair)));
  return wanted.length === 0 ? others : { ...others, filter: Object.fromEntries(wanted) };
}

/** This page with one more filter. */
export function narrowedPath(visit: Visit, fields: Readonly<Record<string, string | null>>): string {
  return withQuery(visit, { ...fields, cursor: null, around: null });
}

export const attributeName = (name: string) => `${ATTRIBUTE}${name}`;

export function filterForm(visit: Visit, services: readonly string[]): Html {
  const filter = filterOf(visit);
  const { q = '', service = '', level = '', trace_id: trace = '', from = '', to = '' } = filter;
  const attributes = Object.entries(filter).filter(([name]) => name.startsWith(ATTRIBUTE));
  const hidden = attributes.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  const option = (value: string, text: string, chosen: string) =>
    html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`;
  const known = service === '' || services.includes(service) ? services : [service, ...services];
  return html`<form method="get" class="row" role="search">${hidden}
<label>Words <input type="search" name="q" value="${q}" size="30" placeholder="card declined" spellcheck="false"></label>
<label>Level <select name="level">${option('', 'All levels', level)}${LEVELS.map((each) => option(each, `${each} and above`, level))}</select></label>
<label>Service <select name="service">${option('', 'All services', service)}${known.map((each) => option(each, each.slice(0, 60), service))}</select></label>
<label>Trace <input type="search" name="trace_id" value="${trace}" size="12" spellcheck="false"></label>
${timeField(visit, 'from', 'From', from)}
${timeField(visit, 'to', 'To', to)} <button>Search</button></form>
${chips(visit, Object.entries(filter))}`;
}

/** A picker, in the reader's zone; to the minute. What the address has more exactly stays, unless another time is picked: it is a chip. */
function timeField({ preferences: { zone } }: Visit, name: string, label: string, instant: string): Html {
  const ms = Date.parse(instant);
  const value = Number.isNaN(ms) ? '' : wallClock(name === 'to' ? ms + 59_999 : ms, zone);
  return html`<label>${label} <input type="datetime-local" name="${name}" value="${value}"></label>`;
}

const labels: Readonly<Record<string, string>> = { q: 'words', trace_id: 'trace' };

/** The filters, each with a link that takes it out. */
function chips(visit: Visit, filters: readonly (readonly [string, string])[]): Html {
  if (filters.length === 0) return html``;
  const each = ([name, value]: readonly [string, string]) => {
    const label = name.startsWith(ATTRIBUTE) ? name.slice(ATTRIBUTE.length) : (labels[name] ?? name);
    const former = name.replace(ATTRIBUTE, 'attributes.');
    const without = narrowedPath(visit, { [name]: null, [former]: null });
    return html`<li><code>${label} ${shownValue(visit, name, value)}</code> <a href="${without}">Remove<span class="unseen"> ${label}</span></a></li>`;
  };
  return html`<ul class="chips" aria-label="Filters">${filters.map(each)}</ul>`;
}

function shownValue({ preferences: { zone } }: Visit, name: string, value: string): string {
  if (TIMES.includes(name) && !Number.isNaN(Date.parse(value))) return inZone(iso(Date.parse(value)), zone);
  return name === 'level' ? `${value} and above` : value.slice(0, 80).toWellFormed();
}

interface Counted {
  readonly name: string;
  readonly records: number;
}

interface Known {
  readonly levels: Readonly<Record<string, number>>;
  readonly services: readonly Counted[];
}

interface Listed {
  readonly attributes: object;
  readonly resource?: object;
}

const FIELDS_SHOWN = 12;
const VALUES_SHOWN = 5;
const SERVICES_SHOWN = 10;
const VALUE_CHARACTERS_MAX = 60;

/** Levels and services of all records, and the attributes of those on this page: each value is a link that narrows the list to it. */
export function fieldPanel(visit: Visit, known: Known | null, records: readonly Listed[]): Html {
  const levels = Object.entries(known?.levels ?? {}).filter(([, number]) => number > 0);
  const groups = [
    valueGroup(
      'Level',
      levels.map(([level, number]) => [level, { level }, number] as const),
    ),
    valueGroup(
      'Service',
      (known?.services ?? [])
        .slice(0, SERVICES_SHOWN)
        .map(({ name, records: number }) => [name, { service: name }, number] as const),
    ),
    ...attributesIn(records).map(([name, values]) =>
      valueGroup(
        name,
        values.map(([value, number]) => [value, { [attributeName(name)]: value }, number] as const),
      ),
    ),
  ];
  return html`<details class="block"><summary>Fields</summary><p class="quiet small">A value narrows the records to it. Attributes are those of the records below.</p><dl class="facts">${groups}</dl></details>`;

  function valueGroup(
    name: string,
    values: readonly (readonly [text: string, fields: Readonly<Record<string, string>>, number: number])[],
  ): Html {
    if (values.length === 0) return html``;
    const links = values.map(
      ([text, fields, number]) =>
        html`<li><a href="${narrowedPath(visit, fields)}">${text === '' ? '(empty)' : short(text, VALUE_CHARACTERS_MAX)}</a> ${count(number)}</li>`,
    );
    return html`<dt>${short(name, VALUE_CHARACTERS_MAX)}</dt><dd><ul class="chips">${links}</ul></dd>`;
  }
}

/** Names with their most frequent values, the names that most records have first. */
function attributesIn(records: readonly Listed[]): (readonly [string, (readonly [string, number])[]])[] {
  const found = new Map<string, Map<string, number>>();
  for (const { attributes, resource } of records) {
    for (const [name, value] of [...entriesOf(attributes), ...entriesOf(resource ?? {})]) {
      if (name === '' || (value !== null && typeof value === 'object')) continue;
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      if (text.length > VALUE_CHARACTERS_MAX) continue;
      const of = found.get(name) ?? new Map<string, number>();
      found.set(name, of.set(text, (of.get(text) ?? 0) + 1));
    }
  }
  const sum = (of: ReadonlyMap<string, number>) => of.values().reduce((all, each) => all + each, 0);
  return [...found]
    .toSorted(([a, of], [b, other]) => sum(other) - sum(of) || (a < b ? -1 : 1))
    .slice(0, FIELDS_SHOWN)
    .map(([name, of]) => [name, [...of].toSorted(([, m], [, n]) => n - m).slice(0, VALUES_SHOWN)] as const);
}

const entriesOf = (fields: object): [string, unknown][] => Object.entries(fields);
