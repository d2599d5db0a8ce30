// The forms of the secrets of connections that were used lately: to build them takes a third of a millisecond.
import { LRUCache } from 'lru-cache';
import { FORMS_BYTES_MAX } from '../limits.ts';
import { formsOf } from './forms.ts';

/** What the search keeps for each byte of a pattern. */
const BYTES_PER_BYTE = 100;

export class KnownForms {
  readonly #known = new LRUCache<string, readonly Buffer[]>({
    maxSize: FORMS_BYTES_MAX,
    sizeCalculation: (forms) => 1 + BYTES_PER_BYTE * forms.reduce((sum, { length }) => sum + length, 0),
  });

  /** `sealed`: of what holds the secrets, by which they are known; no two have the same. */
  of(sealed: readonly (Buffer | null)[], secrets: () => readonly string[]): readonly Buffer[] {
    const id = sealed.map((each) => each?.toString('latin1') ?? '').join('\n');
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const forms = formsOf(secrets());
    this.#known.set(id, forms);
    return forms;
  }
}
