// Column encoding of event properties: one column for each frequent name, a dictionary of typed texts, and one for all others, JSON objects.
// There may be a million hostile names: memory grows with the values, never with names times events.
import { type Dictionary, packIds, packTexts } from '../../../blocks/columns.ts';
import { COLUMN_EVENTS_MIN, COLUMN_NAME_CHARACTERS_MAX, PROPERTY_COLUMNS_MAX } from '../limits.ts';

export const REST = 'rest';
export const COLUMN = 'p:';

/** Values as texts that tell their types: a string behind a quote, anything else as JSON, which no other begins with. */
export function typedText(value: unknown): string {
  return typeof value === 'string' ? `"${value}` : JSON.stringify(value);
}

/** What a value is compared and shown by: a string itself, anything else its JSON. */
export function plainOf(typed: string): string {
  return typed.charCodeAt(0) === 34 ? typed.slice(1) : typed;
}

export function jsonOf(typed: string): string {
  return typed.charCodeAt(0) === 34 ? JSON.stringify(typed.slice(1)) : typed;
}

class Column {
  readonly texts: string[] = [];
  readonly #ids = new Map<string, number>();
  /** Events with a value, and which. */
  readonly events: number[] = [];
  readonly values: number[] = [];

  id(typed: string): number {
    let id = this.#ids.get(typed);
    if (id === undefined) {
      id = this.texts.length;
      this.texts.push(typed);
      this.#ids.set(typed, id);
    }
    return id;
  }

  add(event: number, value: number): void {
    this.events.push(event);
    this.values.push(value);
  }
}

export class PropertyColumns {
  readonly #columns = new Map<string, Column>();

  add(event: number, name: string, typed: string): void {
    const column = this.#column(name);
    column.add(event, column.id(typed));
  }

  addObject(event: number, properties: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(properties)) this.add(event, name, typedText(value));
  }

  /** A whole packed column. `eventOf`: of its rows; negative ones are left out. */
  addDictionary(name: string, { values, ids }: Dictionary, eventOf: Int32Array): void {
    const column = this.#column(name);
    const known = values.map((value) => (value === null ? -1 : column.id(value)));
    for (let row = 0; row < ids.length; row += 1) {
      const value = known[ids[row] as number] as number;
      const event = eventOf[row] as number;
      if (value >= 0 && event >= 0) column.add(event, value);
    }
  }

  /** The columns of the events `order`, in this order; `count`: of all events. */
  pack(order: ArrayLike<number>, count: number): Map<string, Buffer> {
    const rowOf = new Int32Array(count).fill(-1);
    for (let row = 0; row < order.length; row += 1) rowOf[order[row] as number] = row;
    const used = [...this.#columns].map(([name, column]) => ({ name, column, events: eventsIn(column, rowOf) }));
    const isFrequent = ({ name, events }: (typeof used)[number]) =>
      events >= COLUMN_EVENTS_MIN && name.length <= COLUMN_NAME_CHARACTERS_MAX;
    const own = used.filter(isFrequent).sort((a, b) => b.events - a.events || (a.name < b.name ? -1 : 1));
    const chosen = new Set(own.slice(0, PROPERTY_COLUMNS_MAX).map(({ name }) => name));
    const packed = new Map<string, Buffer>();
    const rest: string[] = new Array<string>(order.length).fill('');
    let hasRest = false;
    for (const { name, column, events } of used) {
      if (events === 0) continue;
      if (chosen.has(name)) {
        packed.set(`${COLUMN}${name}`, packColumn(column, rowOf, order.length));
        continue;
      }
      hasRest = true;
      const begin = `${JSON.stringify(name)}:`;
      for (const [i, event] of column.events.entries()) {
        const row = rowOf[event] as number;
        if (row < 0) continue;
        rest[row] +=
          `${rest[row] === '' ? '{' : ','}${begin}${jsonOf(column.texts[column.values[i] as number] as string)}`;
      }
    }
    if (hasRest) packed.set(REST, packTexts(rest.map((json) => (json === '' ? '' : `${json}}`))));
    return packed;
  }

  #column(name: string): Column {
    let column = this.#columns.get(name);
    if (column === undefined) {
      column = new Column();
      this.#columns.set(name, column);
    }
    return column;
  }
}

function eventsIn({ events }: Column, rowOf: Int32Array): number {
  let count = 0;
  for (const event of events) if ((rowOf[event] as number) >= 0) count += 1;
  return count;
}

/** With the values that are used alone; the first one is none. */
function packColumn({ texts, events, values }: Column, rowOf: Int32Array, rows: number): Buffer {
  const ids = new Uint32Array(rows);
  const places = new Int32Array(texts.length).fill(-1);
  const used: (string | null)[] = [null];
  for (const [i, event] of events.entries()) {
    const row = rowOf[event] as number;
    if (row < 0) continue;
    const value = values[i] as number;
    if (places[value] === -1) {
      places[value] = used.length;
      used.push(texts[value] as string);
    }
    ids[row] = places[value] as number;
  }
  return packIds({ values: used, ids });
}
