// Refusals of a caller's input, found in a thread: reported to the caller, and not charged.
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
