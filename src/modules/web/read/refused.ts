// Error for a page that a thread refuses to read: the caller is told the reason, and nothing is charged.
import type { ReadRefusal } from './wire.ts';

export class Refused extends Error {
  readonly refusal: ReadRefusal;

  constructor(rule: ReadRefusal['rule'], message: string) {
    super(message);
    this.refusal = { kind: 'refused', rule, message };
  }
}
