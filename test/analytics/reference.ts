// The plain reference: the same events in memory, counted one by one, with people as a list of sets.
import { isbot } from 'isbot';

export interface RefEvent {
  readonly event: string;
  readonly distinct_id: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
// biome-ignore lint/suspicious/noExplicitAny: questions of every shape
type Data = any;

export class Reference {
  readonly events: RefEvent[] = [];
  #people: { ids: Set<string>; isIdentified: boolean }[] = [];

  personOf(id: string) {
    const known = this.#people.find(({ ids }) => ids.has(id));
    if (known !== undefined) return known;
    const person = { ids: new Set([id]), isIdentified: false };
    this.#people.push(person);
    return person;
  }

  add(event: RefEvent): void {
    this.events.push(event);
    const person = this.personOf(event.distinct_id);
    const { $anon_distinct_id: anonymous, alias } = event.properties as Record<string, string | undefined>;
    const other = event.event === '$identify' ? anonymous : (alias as string);
    const isJoin = ['$identify', '$create_alias', '$merge_dangerously'].includes(event.event);
    if (isJoin && other !== undefined) {
      const second = this.personOf(other);
      if (second !== person && (event.event === '$merge_dangerously' || !second.isIdentified)) {
        for (const id of second.ids) person.ids.add(id);
        person.isIdentified ||= second.isIdentified;
        this.#people = this.#people.filter((each) => each !== second);
      }
    }
    if (event.event === '$identify') person.isIdentified = true;
  }

  delete(id: string): void {
    const person = this.personOf(id);
    this.#people = this.#people.filter((each) => each !== person);
    for (let i = this.events.length - 1; i >= 0; i -= 1) {
      if (person.ids.has((this.events[i] as RefEvent).distinct_id)) this.events.splice(i, 1);
    }
  }

  /** In the order of time; of one moment as they came. */
  list({ from, to, filter = [], event = null, include_bots = false }: Data): RefEvent[] {
    const found = this.events.filter(
      (each) =>
        each.timestamp >= from &&
        each.timestamp < to &&
        (event === null || each.event === event) &&
        (include_bots || !isbot(String(each.properties.$user_agent ?? ''))) &&
        filter.every((condition: Data) => holds(each, condition)),
    );
    return found.sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
  }

  /** Totals by interval for a name and a value; null: any name. */
  trend(asked: Data, event: string | null, value?: string | null): { values: number[]; total: number } {
    const starts = startsOf(asked);
    const all = this.list({ ...asked, event }).filter(
      (each) => value === undefined || plainValue(each, asked.breakdown) === value,
    );
    const buckets: RefEvent[][] = starts.map(() => []);
    for (const each of all) buckets[starts.findLastIndex((start) => start <= Date.parse(each.timestamp))]?.push(each);
    const measure = (list: readonly RefEvent[]) => {
      if (asked.math === 'uniques') return new Set(list.map((each) => this.personOf(each.distinct_id))).size;
      if (asked.math === 'total') return list.length;
      const numbers = list.map((each) => each.properties[asked.property]).filter((each) => typeof each === 'number');
      const sum = (numbers as number[]).reduce((total, each) => total + each, 0);
      return asked.math === 'sum' ? sum : numbers.length === 0 ? 0 : sum / numbers.length;
    };
    return { values: buckets.map(measure), total: measure(all) };
  }

  funnel(asked: Data): number[] {
    const counts = asked.steps.map(() => 0);
    for (const { counts: more } of this.funnels(asked)) for (const [i, people] of more.entries()) counts[i] += people;
    return counts;
  }

  /** By the value that the breakdown has at a person's first event of the first step. */
  funnels({ steps, window_seconds, breakdown, ...of }: Data): { value: string | null; counts: number[] }[] {
    const lines = new Map<string | null, number[]>();
    const isStep = (each: RefEvent, step: number) =>
      each.event === steps[step]?.event &&
      (steps[step].filter ?? []).every((condition: Data) => holds(each, condition));
    const byPerson = Map.groupBy(this.list(of), (each) => this.personOf(each.distinct_id));
    for (const events of byPerson.values()) {
      let best = 0;
      for (const [i, first] of events.entries()) {
        if (!isStep(first, 0)) continue;
        let step = 1;
        for (const next of events.slice(i + 1)) {
          const isLate = Date.parse(next.timestamp) - Date.parse(first.timestamp) > window_seconds * 1_000;
          if (!isLate && isStep(next, step)) step += 1;
        }
        best = Math.max(best, step);
      }
      const first = events.find((each) => isStep(each, 0));
      if (first === undefined) continue;
      const value = plainValue(first, breakdown);
      const counts = lines.get(value) ?? steps.map(() => 0);
      for (let step = 0; step < best; step += 1) counts[step] += 1;
      lines.set(value, counts);
    }
    return [...lines].map(([value, counts]) => ({ value, counts }));
  }

  retention({ start_event, return_event, from, periods, days = 1, include_bots }: Data): number[][] {
    const width = days * DAY_MS;
    const doing = (event: string | null, period: number) => {
      const first = Date.parse(from) + period * width;
      const [start, end] = [new Date(first).toISOString(), new Date(first + width).toISOString()];
      const list = this.list({ event, from: start, to: end, include_bots });
      return new Set(list.map((each) => this.personOf(each.distinct_id)));
    };
    return Array.from({ length: periods }, (_, period) => {
      const began = doing(start_event, period);
      const later = Array.from({ length: periods - period - 1 }, (_each, i) => doing(return_event, period + i + 1));
      return [began.size, ...later.map((returned) => began.intersection(returned).size)];
    });
  }
}

/** The value of a property as a text; null: there is none. */
export function plainValue({ properties }: RefEvent, property: string | null | undefined): string | null {
  const own = property == null ? undefined : properties[property];
  return own === undefined ? null : String(own);
}

function holds({ properties }: RefEvent, { field, operator = 'equals', value }: Data): boolean {
  const own = properties[field];
  const listed: Data[] = Array.isArray(value) ? value : [value];
  const isOne = listed.some((each) => String(own) === String(each));
  const hasOne = listed.some((each) => String(own).toLowerCase().includes(String(each).toLowerCase()));
  const number = typeof own === 'number' ? own : Number.NaN;
  const answers: Readonly<Record<string, boolean>> = {
    equals: own !== undefined && isOne,
    not_equals: own === undefined || !isOne,
    contains: own !== undefined && hasOne,
    not_contains: own === undefined || !hasOne,
    is_set: own !== undefined,
    is_not_set: own === undefined,
    gt: number > value,
    gte: number >= value,
    lt: number < value,
    lte: number <= value,
  };
  return answers[operator] as boolean;
}

/** Where each interval begins that reaches into the time. */
export function startsOf({ from, to, interval = 'day' }: Data): number[] {
  const at = new Date(from);
  at.setUTCMinutes(0, 0, 0);
  if (interval !== 'hour') at.setUTCHours(0);
  if (interval === 'week') at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7));
  if (interval === 'month') at.setUTCDate(1);
  const starts: number[] = [];
  while (at.getTime() < Date.parse(to)) {
    starts.push(at.getTime());
    if (interval === 'month') at.setUTCMonth(at.getUTCMonth() + 1);
    else at.setTime(at.getTime() + (interval === 'hour' ? HOUR_MS : interval === 'day' ? DAY_MS : 7 * DAY_MS));
  }
  return starts;
}
