// Retention: of the people who began in a period, how many came back in each of the periods that follow.
import type { ScanTask } from '../../../blocks/block.ts';
import { COUNT_COLUMNS, StoredEvents } from '../events/stored-events.ts';
import { IntTable } from '../people/int-table.ts';
import { DELETED } from '../people/joins.ts';
import { bucketOf } from './buckets.ts';
import { blocksOf, type CountArgs, type Question, reduce, scan } from './period.ts';

interface RetentionArgs extends CountArgs {
  /** Null: any event. */
  readonly startEvent: string | null;
  readonly returnEvent: string | null;
  /** Of at most 31 periods. */
  readonly starts: Float64Array;
}

/** In which periods people began and came back, a bit a period. */
interface Masks {
  readonly people: Int32Array;
  readonly began: Int32Array;
  readonly returned: Int32Array;
}

class Periods {
  readonly #places = new IntTable();
  readonly #people: number[] = [];
  readonly #began: number[] = [];
  readonly #returned: number[] = [];

  add(person: number, began: number, returned: number): void {
    const place = this.#places.place(person);
    this.#people[place] = person;
    this.#began[place] = (this.#began[place] ?? 0) | began;
    this.#returned[place] = (this.#returned[place] ?? 0) | returned;
  }

  masks(): Masks {
    return {
      people: Int32Array.from(this.#people),
      began: Int32Array.from(this.#began),
      returned: Int32Array.from(this.#returned),
    };
  }
}

export const findPeriods: ScanTask<RetentionArgs, Masks> = {
  source: import.meta.url,
  id: 'findPeriods',
  run(blocks, args) {
    const periods = new Periods();
    const joins = new IntTable(args.joins);
    for (const block of blocks) takeBlock(new StoredEvents(block), args, joins, periods);
    return periods.masks();
  },
};

function takeBlock(events: StoredEvents, args: RetentionArgs, joins: IntTable, periods: Periods): void {
  const { fromMs, toMs, startEvent, returnEvent, starts, includeBots } = args;
  const names = events.names();
  const isStart = names.values.map((name) => startEvent === null || name === startEvent);
  const isReturn = names.values.map((name) => returnEvent === null || name === returnEvent);
  const [persons, times, bots] = [events.persons(), events.times, includeBots ? null : events.bots()];
  for (let i = 0; i < events.records; i += 1) {
    const name = names.ids[i] as number;
    const [number, time] = [persons[i] as number, times[i] as number];
    if (!(isStart[name] || isReturn[name]) || number === 0 || bots?.[i] === 1 || time < fromMs || time >= toMs)
      continue;
    const person = joins.get(number, number);
    if (person === DELETED) continue;
    const bit = 1 << bucketOf(starts, time);
    periods.add(person, isStart[name] ? bit : 0, isReturn[name] ? bit : 0);
  }
}

/** Of each period: how many began in it, then how many of them came back in each period that follows. */
export const finishRetention: ScanTask<{ readonly parts: readonly Masks[]; readonly periods: number }, number[][]> = {
  source: import.meta.url,
  id: 'finishRetention',
  run(_, { parts, periods: count }) {
    const periods = new Periods();
    for (const { people, began, returned } of parts) {
      for (let i = 0; i < people.length; i += 1)
        periods.add(people[i] as number, began[i] as number, returned[i] as number);
    }
    const { people, began, returned } = periods.masks();
    const cohorts = Array.from({ length: count }, (_each, period) => new Array<number>(count - period).fill(0));
    for (let i = 0; i < people.length; i += 1) {
      for (let period = 0; period < count; period += 1) {
        if (((began[i] as number) & (1 << period)) === 0) continue;
        const cohort = cohorts[period] as number[];
        cohort[0] = (cohort[0] as number) + 1;
        for (let later = period + 1; later < count; later += 1) {
          if (((returned[i] as number) & (1 << later)) !== 0)
            cohort[later - period] = (cohort[later - period] as number) + 1;
        }
      }
    }
    return cohorts;
  },
};

export async function retentionOf(
  question: Question,
  asked: Pick<RetentionArgs, 'startEvent' | 'returnEvent' | 'starts' | 'includeBots'>,
): Promise<number[][]> {
  const args: RetentionArgs = { ...asked, ...question.period, joins: question.known.table.parts() };
  const parts: Masks[] = [];
  const work = { columns: COUNT_COLUMNS, task: findPeriods, args };
  for await (const part of scan(question, await blocksOf(question), work)) parts.push(part);
  const size = parts.reduce((sum, { people }) => sum + people.length, 0);
  return reduce(question, finishRetention, { parts, periods: asked.starts.length }, size);
}
