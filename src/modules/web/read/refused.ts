// Why a page is not read, found in a thread: told to the caller, and nothing is charged.
import type { ReadRefusal } from './wire.ts';

export class Refused extends Error {
  readonly refusal: ReadRefusal;

  constructor(rule: ReadRefusal['rule'], message: string) {
    super(message);
    this.refusal = { kind: 'refused', rule, message };
  }
}
