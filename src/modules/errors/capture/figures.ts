// Which figures of its group an event adds to: user, release, environment and tags, with the caps of contract §9.

import { firstCharacters } from '../intake/clean-text.ts';
import { NAME_CHARACTERS_MAX, TAG_NAMES_COUNTED_MAX, TAG_VALUES_COUNTED_MAX } from '../limits.ts';
import { type CaptureInput, type FigureCount, figureKey, type GroupState, KIND } from './capture-types.ts';

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
  readonly figure: Figure;
  /** Events that it had before the commit. */
  readonly before: number;
  events: number;
}

/** Sums what the events of a commit add to one group, and tells what is new against what was there. */
export class FigureSums {
  readonly #before: (key: string) => number;
  readonly #sums = new Map<string, Sum>();

  /** `before`: events that a figure had before the commit, by `figureKey`. */
  constructor(before: (key: string) => number) {
    this.#before = before;
  }

  /** What is added, by `figureKey`. */
  get added(): [string, FigureCount][] {
    return [...this.#sums]
      .filter(([, { events }]) => events > 0)
      .map(([key, { figure, events }]) => [key, [figure.kind, figure.name, figure.value, events]]);
  }

  /** Adds one event; counts new users and tag names in `group`. */
  addEvent(group: GroupState, input: CaptureInput): void {
    const add = (kind: number, name: string) => this.#add(this.#open({ kind, name, value: '' }));
    if (input.userId !== null && add(KIND.user, input.userId) === 0) group.userCount += 1;
    if (input.release !== null) add(KIND.release, input.release);
    if (input.environment !== null) add(KIND.environment, input.environment);
    for (const name of Object.keys(input.tags)) this.#addTag(group, name, input.tags[name] as string);
  }

  #addTag(group: GroupState, name: string, sent: string): void {
    const tag = this.#open({ kind: KIND.tag, name, value: countedValue(sent) });
    if (tag.before + tag.events === 0) {
      // Of a tag name the distinct values are counted.
      const values = this.#open({ kind: KIND.tagName, name, value: '' });
      const distinct = values.before + values.events;
      if (distinct >= TAG_VALUES_COUNTED_MAX) {
        this.#add(this.#open({ kind: KIND.tag, name, value: OTHER }));
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

  #open(figure: Figure): Sum {
    const key = figureKey(figure.kind, figure.name, figure.value);
    let sum = this.#sums.get(key);
    if (sum === undefined) {
      sum = { figure, before: this.#before(key), events: 0 };
      this.#sums.set(key, sum);
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
