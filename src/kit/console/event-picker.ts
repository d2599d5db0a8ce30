// Form fields that choose the event types of a webhook: all events, checkboxes grouped by module, and a text field for other types.
import { type Html, html } from '../../lib/html.ts';
import { field } from './form.ts';
import type { Visit } from './visit.ts';

const ALL = '*';

/** All of them are the one box. */
function chosenOf(eventTypes: readonly string[], chosen: readonly string[]): readonly string[] {
  return eventTypes.every((type) => chosen.includes(type)) ? [ALL] : chosen;
}

/** `chosen`: the types as they are. */
export function eventPicker(visit: Visit, act: string, chosen: readonly string[]): Html {
  const { refused, eventTypes } = visit;
  const ticked = new Set(refused?.act === act ? refused.form.getAll('event') : chosenOf(eventTypes, chosen));
  const others = chosen.filter((type) => type !== ALL && !eventTypes.includes(type)).join(' ');
  const box = (type: string, text: string) =>
    html`<label class="choice"><input type="checkbox" name="event" value="${type}"${ticked.has(type) ? html` checked` : ''}> ${text}</label>`;
  const groups = [...Map.groupBy(eventTypes, (type) => type.split('.', 1)[0] ?? '')].map(
    ([module, types]) =>
      html`<details${types.some((type) => ticked.has(type)) ? html` open` : ''}><summary>${module}</summary>${types.map((type) => box(type, type))}</details>`,
  );
  return html`<fieldset class="scopes"><legend>Events</legend>
${box(ALL, 'All events')}
${groups}
${field(visit, act, { name: 'events', label: 'Other event types', value: others, hint: 'Separated by spaces.' })}</fieldset>`;
}

/** The types that the form chooses; undefined: none. All events are those that there are now. */
export function pickedEvents(form: URLSearchParams, { eventTypes }: Pick<Visit, 'eventTypes'>): string[] | undefined {
  const typed = (form.get('events') ?? '').split(/[\s,]+/).filter((type) => type !== '');
  const types = [...new Set([...form.getAll('event'), ...typed])];
  if (types.includes(ALL)) return [...eventTypes];
  return types.length === 0 ? undefined : types;
}
