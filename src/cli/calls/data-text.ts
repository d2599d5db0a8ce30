// Formats the data of an answer: indented JSON, one line of JSON, or a table. Digits of numbers and the order of fields are kept.
import { indentJson } from '../../lib/json-source.ts';
import { printable, table, terminalWidth } from '../output.ts';

export interface Look {
  readonly json?: boolean;
  readonly table?: boolean;
}

const INDENTED_TIMES_MAX = 8;
const CELL_CHARACTERS_MAX = 60;
const CUT = '…';

/** @param data JSON text */
export function dataText(data: string, look: Look): string {
  if (look.table === true) return asTable(JSON.parse(data));
  if (look.json === true) return oneLine(data);
  const text = indentJson(data, data.length * INDENTED_TIMES_MAX + 1_000);
  return text.split('\n').map(printable).join('\n');
}

/** Breaks and tabs stand between tokens only; within strings JSON has them escaped. */
export function oneLine(data: string): string {
  return printable(data.replace(/[\t\r\n]/g, ' ').trim());
}

/** Of the list in the data a row each, or else of the data a row per field. */
function asTable(data: unknown): string {
  if (!isObject(data)) return cellOf(data);
  const list = Object.values(data).find((value) => Array.isArray(value) && value.some(isObject)) as
    | object[]
    | undefined;
  if (list === undefined)
    return table(
      Object.entries(data).map(([name, value]) => [printable(name), cellOf(value)]),
      terminalWidth(),
    );
  const names = [...new Set(list.flatMap((item) => Object.keys(item)))];
  const isTold = (name: string) => list.some((item) => (item as Record<string, unknown>)[name] != null);
  const columns = names.filter(isTold);
  const rows = list.map((item) => columns.map((name) => cellOf((item as Record<string, unknown>)[name])));
  return table([columns.map((name) => printable(name).toUpperCase()), ...rows], terminalWidth());
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = printable(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length > CELL_CHARACTERS_MAX ? `${text.slice(0, CELL_CHARACTERS_MAX - 1)}${CUT}` : text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
