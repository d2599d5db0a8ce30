// What is wrong with what was sent, found in a thread: told to the caller, and nothing is charged.
import type { Refusal } from './wire.ts';

export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(field: string, rule: string, message: string, index: number | null = null) {
    super(message);
    this.refusal = { kind: 'refused', field, index, rule, message };
  }
}

/** `pagesMax`: of the service, or what the credit left pays for. */
export function tooManyPages(field: string, pagesMax: number): Refused {
  return new Refused(field, 'too_many_pages', `It has more than ${pagesMax} pages.`);
}
