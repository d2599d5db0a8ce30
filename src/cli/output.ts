// Output of commands: one JSON object with --json, text lines without.
import { Problem } from '../problems/problem.ts';

export interface Answer {
  readonly json: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly exitCode?: number;
}

/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What was asked cannot be done: exit code 1. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
}

/** A setting or the profile is missing or wrong: exit code 78. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

export function print(answer: Answer, asJson: boolean): void {
  process.stdout.write(`${asJson ? JSON.stringify(answer.json) : answer.text}\n`);
  if (answer.exitCode !== undefined) process.exitCode = answer.exitCode;
}

/** One line for whoever called. */
export function lineOf(error: unknown): string {
  if (error instanceof Problem) return `${error.message} (${error.code})`;
  const message = error instanceof Error ? error.message || error.name : String(error);
  return printable(message.split('\n', 1)[0] as string);
}

const WIDTH_WITHOUT_TERMINAL = 120;
const COLUMN_MIN = 8;
const GAP = '  ';
const CUT = '…';

/** Of the terminal, or of a page that a pipe leads to. */
export function terminalWidth(): number {
  return process.stdout.columns ?? WIDTH_WITHOUT_TERMINAL;
}

/** Columns as wide as their widest cell. On a terminal, cells of the widest columns are cut so that a line fits; a pipe gets them whole. */
export function table(
  rows: readonly (readonly string[])[],
  lineMax = process.stdout.isTTY ? terminalWidth() : Number.POSITIVE_INFINITY,
): string {
  const widths = fittingWidths(rows, lineMax);
  const lines = rows.map((row) =>
    widths.map((width, column) => cellOf(row[column] ?? '', width).padEnd(width)).join(GAP),
  );
  return lines.map((line) => line.trimEnd()).join('\n');
}

function cellOf(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}${CUT}`;
}

/** The widest columns give way first; columns for which there is no room at all are left out, the last ones first. */
function fittingWidths(rows: readonly (readonly string[])[], lineMax: number): number[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lengthOf = () => widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  while (lengthOf() > lineMax) {
    const widest = Math.max(...widths);
    if (widest > COLUMN_MIN) {
      const next = Math.max(COLUMN_MIN, ...widths.filter((width) => width < widest));
      const count = widths.filter((width) => width === widest).length;
      const less = Math.min(widest - next, Math.ceil((lengthOf() - lineMax) / count));
      for (const [column, width] of widths.entries()) if (width === widest) widths[column] = width - less;
    } else if (widths.length > 1) widths.pop();
    else break;
  }
  return widths;
}

/** A table whose last column is text: it goes on in further lines where the width ends, and no word is cut. */
export function wrapTable(rows: readonly (readonly string[])[], lineMax: number): string {
  const before = rows.map((row) => row.slice(0, -1));
  const widths = fittingWidths(before, Number.POSITIVE_INFINITY);
  const indent = widths.reduce((sum, width) => sum + width + GAP.length, 0);
  const room = Math.max(30, lineMax - indent);
  return rows
    .flatMap((row) => {
      const head = widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(GAP) + GAP;
      return linesOf(row.at(-1) ?? '', room).map((line, i) =>
        `${i === 0 ? head : ' '.repeat(indent)}${line}`.trimEnd(),
      );
    })
    .join('\n');
}

function linesOf(text: string, room: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) as string;
    if (last === '' || last.length + 1 + word.length <= room)
      lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const STEERS_A_TERMINAL = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Text from elsewhere on one line: control characters, which could steer a terminal, become escapes as JSON has them. */
export function printable(text: string): string {
  return text.replace(STEERS_A_TERMINAL, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
