// Which figures of its group an event adds to: user, release, environment and tags, with the caps of contract §9.
import { type CaptureInput, figureKey, type GroupState, KIND, type KnownState, valueKey } from './capture-types.ts';
import { firstCharacters } from './clean-text.ts';
import { NAME_CHARACTERS_MAX, TAG_NAMES_COUNTED_MAX, TAG_VALUES_COUNTED_MAX } from './limits.ts';

export const OTHER = '(other)';

export interface Figure {
  readonly kind: number;
  readonly name: string;
  readonly value: string;
}

/** The figures of an event whose being new matters to its group, each by its key. */
export function decisiveFigures(input: CaptureInput): [string, Figure][] {
  const tags = Object.entries(input.tags).map(([name, value]) => keyed(KIND.tag, name, countedValue(value)));
  return input.userId === null ? tags : [keyed(KIND.user, input.userId, ''), ...tags];
}

/** What a new value of the tag is counted by. */
export function tagNameOf(tag: Figure): [string, Figure] {
  return keyed(KIND.tagName, tag.name, '');
}

function keyed(kind: number, name: string, value: string): [string, Figure] {
  return [figureKey(kind, name, value), { kind, name, value }];
}

/** Long values are counted by how they begin. */
function countedValue(value: string): string {
  return firstCharacters(value, NAME_CHARACTERS_MAX);
}

interface Sum {
  readonly accountId: string;
  /** Of the group in its commit. */
  readonly place: number;
  readonly key: string;
  readonly group: GroupState;
  readonly figure: Figure;
  /** Events that it had before the commit. */
  readonly before: number;
  events: number;
}

/** Sums what the events of a commit add, and tells what is new against what was there. */
export class FigureSums {
  readonly #known: KnownState['values'];
  readonly #sums = new Map<string, Sum>();

  constructor(known: KnownState['values']) {
    this.#known = known;
  }

  get rows(): readonly Sum[] {
    return [...this.#sums.values()].filter(({ events }) => events > 0);
  }

  /** Adds one event; counts new users and tag names in `group`. `place`: of the group in its commit. */
  addEvent(accountId: string, place: number, group: GroupState, input: CaptureInput): void {
    const add = (kind: number, name: string) =>
      this.#add(this.#open(accountId, place, group, { kind, name, value: '' }));
    if (input.userId !== null && add(KIND.user, input.userId) === 0) group.userCount += 1;
    if (input.release !== null) add(KIND.release, input.release);
    if (input.environment !== null) add(KIND.environment, input.environment);
    for (const name of Object.keys(input.tags)) this.#addTag(accountId, place, group, name, input.tags[name] as string);
  }

  #addTag(accountId: string, place: number, group: GroupState, name: string, sent: string): void {
    const tag = this.#open(accountId, place, group, { kind: KIND.tag, name, value: countedValue(sent) });
    if (tag.before + tag.events === 0) {
      // Of a tag name the distinct values are counted.
      const values = this.#open(accountId, place, group, { kind: KIND.tagName, name, value: '' });
      const distinct = values.before + values.events;
      if (distinct >= TAG_VALUES_COUNTED_MAX) {
        this.#add(this.#open(accountId, place, group, { kind: KIND.tag, name, value: OTHER }));
        return;
      }
      if (distinct === 0) {
        if (group.tagNames >= TAG_NAMES_COUNTED_MAX) return;
        group.tagNames += 1;
      }
      this.#add(values);
    }
    this.#add(tag);
  }

  #open(accountId: string, place: number, group: GroupState, figure: Figure): Sum {
    const key = figureKey(figure.kind, figure.name, figure.value);
    const id = valueKey(place, key);
    let sum = this.#sums.get(id);
    if (sum === undefined) {
      sum = { accountId, place, key, group, figure, before: this.#known.get(id) ?? 0, events: 0 };
      this.#sums.set(id, sum);
    }
    return sum;
  }

  /** Answers what was there before. */
  #add(sum: Sum): number {
    const before = sum.before + sum.events;
    sum.events += 1;
    return before;
  }
}
