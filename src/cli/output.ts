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

/** Columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}

const STEERS_A_TERMINAL = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Text from elsewhere on one line: control characters, which could steer a terminal, become escapes as JSON has them. */
export function printable(text: string): string {
  return text.replace(STEERS_A_TERMINAL, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
