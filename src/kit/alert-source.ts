// What alerts may watch of a module. The module says which fields choose it and looks at them; the alerts module knows no other module. A look
// is free, changes nothing that its owner could see, and is bounded as the module's own questions are.
import type { Static, TObject, TSchema } from 'typebox';
import type { CallContext } from '../core/callers/context.ts';

/** One of the values that a look finds. */
export interface AlertSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Whose rule it is. */
export type AlertOwner = Pick<CallContext<unknown>, 'accountId' | 'signal'>;

export interface AlertAsked<When> {
  readonly when: When;
  /** Names of labels: a series for each of their values. Empty: one without labels, or whatever the source itself has. */
  readonly by: readonly string[];
}

export interface AlertLook<When> extends AlertAsked<When> {
  readonly accountId: string;
  /** The step: what is later is not looked at, where the source knows the past. */
  readonly atMs: number;
  readonly signal: AbortSignal;
}

export interface AlertLooks<When> extends Omit<AlertLook<When>, 'atMs'> {
  /** Steps from `fromMs` to `toMs`, both included. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** What is found at one step. */
export interface AlertStep {
  readonly atMs: number;
  readonly series: readonly AlertSeries[];
}

export interface AlertSource<When = unknown, State = unknown> {
  /** The field of `when` that chooses it. */
  readonly name: string;
  readonly schema: TSchema;
  /** Who may not call it sets no rule: it answers what a rule would tell. */
  readonly capability: string;
  /** Labels that `by` may name; null: any. */
  readonly by: readonly string[] | null;
  /** A rule without bounds fires for every series that is there, whatever its value; else for those above 0. */
  readonly firesWhenThere?: boolean;
  /** Codes that `check` may throw, beside VALIDATION_FAILED. */
  readonly errors?: readonly string[];
  /** Before the rule is set. Answers warnings; throws the Problem of what cannot be looked at, `param` below `when`. */
  check?(state: State, owner: AlertOwner, asked: AlertAsked<When>): Promise<readonly string[]>;
  /** Throws the Problem of what cannot be looked at. */
  look(state: State, look: AlertLook<When>): Promise<readonly AlertSeries[]>;
  /** The same of the past, a step after the other; absent: the source keeps none. It may end early where a time is up. */
  past?(state: State, looks: AlertLooks<When>): Promise<readonly AlertStep[]>;
}

/** A source whose functions are given the state of its module. */
export interface BoundAlertSource extends Omit<AlertSource, 'check' | 'look' | 'past'> {
  check(owner: AlertOwner, asked: AlertAsked<unknown>): Promise<readonly string[]>;
  look(look: AlertLook<unknown>): Promise<readonly AlertSeries[]>;
  readonly past: ((looks: AlertLooks<unknown>) => Promise<readonly AlertStep[]>) | null;
}

/** What this room adds to the services of a process. */
export interface AlertSourcesPart {
  /** By name. */
  readonly alertSources: ReadonlyMap<string, BoundAlertSource>;
}

/** Types `when` by the schema, and the state by the module. */
export function alertSource<State>() {
  return <Schema extends TObject>(
    source: Omit<AlertSource<Static<Schema>, State>, 'schema'> & { readonly schema: Schema },
  ): AlertSource => source as unknown as AlertSource;
}

interface Sourced {
  readonly name: string;
  readonly alertSources?: readonly AlertSource[];
}

/** The sources of all modules. `states`: of the modules, by name; they are there when the first look begins. */
export function bindAlertSources(
  modules: readonly Sourced[],
  states: ReadonlyMap<string, unknown>,
): AlertSourcesPart['alertSources'] {
  const bound = modules.flatMap(({ name, alertSources = [] }) =>
    alertSources.map((source): [string, BoundAlertSource] => [
      source.name,
      {
        ...source,
        check: async (owner, asked) => (await source.check?.(states.get(name), owner, asked)) ?? [],
        look: (look) => source.look(states.get(name), look),
        past: source.past === undefined ? null : (looks) => source.past?.(states.get(name), looks) ?? noSteps,
      },
    ]),
  );
  return new Map(bound);
}

const noSteps = Promise.resolve([]);

/** A source that looks at each step of the past as at the present. Ends when `untilMs`, of `performance.now()`, is over. */
export async function lookAtEach<When>(
  { fromMs, toMs, stepMs, ...look }: AlertLooks<When>,
  untilMs: number,
  at: (look: AlertLook<When>) => Promise<readonly AlertSeries[]>,
): Promise<AlertStep[]> {
  const steps: AlertStep[] = [];
  for (let atMs = fromMs; atMs <= toMs; atMs += stepMs) {
    look.signal.throwIfAborted();
    if (performance.now() > untilMs) break;
    steps.push({ atMs, series: await at({ ...look, atMs }) });
  }
  return steps;
}
