// The filters of the page of logs: they stand in its address, under the names of the API.
import { withQuery } from '../../../kit/console/table.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';

const ATTRIBUTE = 'filter.';
/** Also under the name that the field had. */
const ATTRIBUTES = /^(?:filter|attributes)\./;
const TEXTS = ['q', 'service', 'level', 'trace_id', 'from', 'to'];
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** What the address asks for, by its names. */
export function filterOf({ query }: Visit): Record<string, string> {
  const pairs = [...query].filter(([name, value]) => value !== '' && (TEXTS.includes(name) || ATTRIBUTES.test(name)));
  return Object.fromEntries(pairs.map(([name, value]) => [name.replace(ATTRIBUTES, ATTRIBUTE), value.trim()]));
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
  const { q = '', service = '', level = '', trace_id: trace = '' } = filter;
  const others = Object.entries(filter).filter(
    ([name]) => name.startsWith(ATTRIBUTE) || name === 'from' || name === 'to',
  );
  const hidden = others.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  const option = (value: string, text: string, chosen: string) =>
    html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`;
  const known = service === '' || services.includes(service) ? services : [service, ...services];
  return html`<form method="get" class="row" role="search">${hidden}
<label>Words <input type="search" name="q" value="${q}" size="30" placeholder="card declined" spellcheck="false"></label>
<label>Level <select name="level">${option('', 'All levels', level)}${LEVELS.map((each) => option(each, `${each} and graver`, level))}</select></label>
<label>Service <select name="service">${option('', 'All services', service)}${known.map((each) => option(each, each.slice(0, 60), service))}</select></label>
<label>Trace <input type="search" name="trace_id" value="${trace}" size="12" spellcheck="false"></label> <button>Search</button></form>
${chips(visit, others)}`;
}

/** Filters that have no field, each with a link that takes it out. */
function chips(visit: Visit, others: readonly (readonly [string, string])[]): Html {
  if (others.length === 0) return html``;
  const each = ([name, value]: readonly [string, string]) => {
    const label = name.startsWith(ATTRIBUTE) ? name.slice(ATTRIBUTE.length) : name;
    const former = name.replace(ATTRIBUTE, 'attributes.');
    const without = narrowedPath(visit, { [name]: null, [former]: null });
    return html`<li><code>${label} ${value.slice(0, 80)}</code> <a href="${without}">Remove<span class="unseen"> ${label}</span></a></li>`;
  };
  return html`<ul class="chips" aria-label="Further filters">${others.map(each)}</ul>`;
}
