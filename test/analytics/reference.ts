// The plain reference: the same events in memory, counted one by one, with people as a list of sets.
export interface RefEvent {
  readonly event: string;
  readonly distinct_id: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

const DAY_MS = 86_400_000;
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

  #within({ from, to, filter = [] }: Data): RefEvent[] {
    const holds = ({ properties }: RefEvent) =>
      filter.every(({ property, operator = 'is', value }: Data) => {
        const own = properties[property];
        if (operator === 'is') return own !== undefined && String(own) === String(value);
        if (operator === 'is_not') return own === undefined || String(own) !== String(value);
        if (operator === 'is_set') return own !== undefined;
        if (operator === 'gt') return typeof own === 'number' && own > value;
        return typeof own === 'string' && own.includes(value);
      });
    return this.events.filter((event) => event.timestamp >= from && event.timestamp < to && holds(event));
  }

  /** Totals by day for a name and a value. */
  trend(asked: Data, event: string, value?: string | null): { values: number[]; total: number } {
    const days: RefEvent[][] = [];
    for (let at = Date.parse(asked.from); at < Date.parse(asked.to); at += DAY_MS) days.push([]);
    const all = this.#within(asked).filter((each) => {
      const own = each.properties[asked.breakdown];
      return each.event === event && (value === undefined || (own === undefined ? null : String(own)) === value);
    });
    for (const each of all)
      days[Math.floor((Date.parse(each.timestamp) - Date.parse(asked.from)) / DAY_MS)]?.push(each);
    const measure = (list: readonly RefEvent[]) => {
      if (asked.math === 'uniques') return new Set(list.map((each) => this.personOf(each.distinct_id))).size;
      if (asked.math === 'total') return list.length;
      const numbers = list.map((each) => each.properties[asked.property]).filter((each) => typeof each === 'number');
      const sum = (numbers as number[]).reduce((total, each) => total + each, 0);
      return asked.math === 'sum' ? sum : numbers.length === 0 ? 0 : sum / numbers.length;
    };
    return { values: days.map(measure), total: measure(all) };
  }

  funnel({ steps, window_seconds, ...of }: Data): number[] {
    const counts = steps.map(() => 0);
    const ordered = this.#within(of).sort((a, b) =>
      a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0,
    );
    const byPerson = Map.groupBy(ordered, (each) => this.personOf(each.distinct_id));
    for (const events of byPerson.values()) {
      let best = 0;
      for (const [i, first] of events.entries()) {
        if (first.event !== steps[0].event) continue;
        let step = 1;
        for (const next of events.slice(i + 1)) {
          const isLate = Date.parse(next.timestamp) - Date.parse(first.timestamp) > window_seconds * 1_000;
          if (step < steps.length && !isLate && next.event === steps[step].event) step += 1;
        }
        best = Math.max(best, step);
      }
      for (let step = 0; step < best; step += 1) counts[step] += 1;
    }
    return counts;
  }

  retention({ start_event, return_event, from, periods }: Data): number[][] {
    const doing = (event: string, period: number) => {
      const [first, end] = [Date.parse(from) + period * DAY_MS, Date.parse(from) + (period + 1) * DAY_MS];
      const list = this.events.filter(
        (each) => each.event === event && Date.parse(each.timestamp) >= first && Date.parse(each.timestamp) < end,
      );
      return new Set(list.map((each) => this.personOf(each.distinct_id)));
    };
    return Array.from({ length: periods }, (_, period) => {
      const began = doing(start_event, period);
      const later = Array.from({ length: periods - period - 1 }, (_each, i) => doing(return_event, period + i + 1));
      return [began.size, ...later.map((returned) => began.intersection(returned).size)];
    });
  }
}
