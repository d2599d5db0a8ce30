// Which figures of its group an event adds to: user, release, environment and tags, with the caps of contract §9.
import { type CaptureInput, type GroupState, KIND, type KnownState, valueKey } from './capture-types.ts';
import { firstCharacters } from './clean-text.ts';
import { NAME_CHARACTERS_MAX, TAG_NAMES_COUNTED_MAX, TAG_VALUES_COUNTED_MAX } from './limits.ts';

export const OTHER = '(other)';

export interface Figure {
  readonly kind: number;
  readonly name: string;
  readonly value: string;
}

/** The figures of an event that may be new to its group: what the read step looks up. */
export function uncertainFigures(input: CaptureInput): Figure[] {
  const tags = Object.entries(input.tags).flatMap(([name, value]): Figure[] => [
    { kind: KIND.tagName, name, value: '' },
    { kind: KIND.tag, name, value: countedValue(value) },
  ]);
  return input.userId === null ? tags : [{ kind: KIND.user, name: input.userId, value: '' }, ...tags];
}

/** Long values are counted by how they begin. */
function countedValue(value: string): string {
  return firstCharacters(value, NAME_CHARACTERS_MAX);
}

/** Sums what the events of a commit add, and tells what is new against what was there. */
export class FigureSums {
  readonly #known: KnownState['values'];
  readonly #sums = new Map<string, { accountId: string; group: GroupState; figure: Figure; events: number }>();

  constructor(known: KnownState['values']) {
    this.#known = known;
  }

  get rows() {
    return [...this.#sums.values()];
  }

  /** Adds one event; counts new users and tag names in `group`. */
  addEvent(accountId: string, key: string, group: GroupState, input: CaptureInput): void {
    const add = (figure: Figure) => this.#add(accountId, key, group, figure);
    if (input.userId !== null && add({ kind: KIND.user, name: input.userId, value: '' }) === 0) group.userCount += 1;
    if (input.release !== null) add({ kind: KIND.release, name: input.release, value: '' });
    if (input.environment !== null) add({ kind: KIND.environment, name: input.environment, value: '' });
    for (const [name, value] of Object.entries(input.tags)) this.#addTag(accountId, key, group, name, value);
  }

  #addTag(accountId: string, key: string, group: GroupState, name: string, sent: string): void {
    const values = { kind: KIND.tagName, name, value: '' };
    const figure = { kind: KIND.tag, name, value: countedValue(sent) };
    const distinct = this.#eventsOf(key, values);
    if (this.#eventsOf(key, figure) === 0) {
      if (distinct >= TAG_VALUES_COUNTED_MAX) {
        this.#add(accountId, key, group, { ...figure, value: OTHER });
        return;
      }
      if (distinct === 0) {
        if (group.tagNames >= TAG_NAMES_COUNTED_MAX) return;
        group.tagNames += 1;
      }
      // Of a tag name the distinct values are counted.
      this.#add(accountId, key, group, values);
    }
    this.#add(accountId, key, group, figure);
  }

  #eventsOf(key: string, { kind, name, value }: Figure): number {
    const id = valueKey(key, kind, name, value);
    return (this.#known.get(id) ?? 0) + (this.#sums.get(id)?.events ?? 0);
  }

  /** Answers what was there before. */
  #add(accountId: string, key: string, group: GroupState, figure: Figure): number {
    const before = this.#eventsOf(key, figure);
    const id = valueKey(key, figure.kind, figure.name, figure.value);
    const sum = this.#sums.get(id);
    if (sum === undefined) this.#sums.set(id, { accountId, group, figure, events: 1 });
    else sum.events += 1;
    return before;
  }
}
