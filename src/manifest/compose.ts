// Combines the parts of all modules: prices, limits of tiers, kinds of events and error codes. Two modules never define the same one.
import type { Config } from '../config/config.ts';
import type { Price, PriceBook } from '../core/wallet/prices.ts';
import type { Queryable } from '../db/database.ts';
import type { Deployment } from '../kit/deployment.ts';
import type { Module } from '../kit/module.ts';
import type { Offer } from '../kit/offer.ts';
import { type ProblemCatalogue, sharedProblems } from '../problems/catalogue.ts';
import { describedEvents } from './events.ts';
import { priceVersion } from './version.ts';

export function composeOffer(modules: readonly Module[], deployment: Deployment): Offer {
  return {
    prices: priceBookOf(modules),
    limits: Object.assign({}, ...modules.map(({ limits }) => limits)),
    events: describedEvents(modules),
    problems: problemsOf(modules),
    finders: modules.flatMap(({ finders = [] }) => finders),
    alertSources: modules.flatMap(({ alertSources = [] }) => alertSources),
    deployment,
  };
}

export function priceBookOf(modules: readonly Module[]): PriceBook {
  const prices: Record<string, Price> = Object.assign({}, ...modules.map(({ prices: own }) => own));
  return { version: priceVersion, prices };
}

/** What each module reads of the environment, by its name. Throws ConfigError. */
export function settingsOf(modules: readonly Module[], config: Pick<Config, 'settings'>): ReadonlyMap<string, unknown> {
  return new Map(modules.map(({ name, settings }) => [name, config.settings((variables) => settings?.(variables))]));
}

/** What more than one module brings, or what is brought under a name of another's, as clear sentences. */
export function offerFaults(modules: readonly Module[]): string[] {
  return [
    ...clashes(modules, 'price', ({ prices }) => prices),
    ...clashes(modules, 'limit', ({ limits }) => limits),
    ...clashes(modules, 'error code', ({ problems }) => problems, Object.keys(sharedProblems)),
    ...modules.flatMap(({ name, prices = {} }) =>
      Object.keys(prices)
        .filter((entry) => !entry.startsWith(`${name}.`))
        .map((entry) => `the price ${entry} does not begin with the name of its module, ${name}`),
    ),
    ...modules.flatMap(({ problems = {} }) =>
      Object.keys(problems)
        .filter((code) => !/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(code))
        .map((code) => `the error code ${code} is not upper-case words joined by underscores`),
    ),
    ...clashes(modules, 'alert source', ({ alertSources = [] }) =>
      Object.fromEntries(alertSources.map(({ name }) => [name, name])),
    ),
    ...modules.flatMap(modelsAreOfTheModule),
  ];
}

/** Vendors serve capabilities of the module that says how their models are written. */
function modelsAreOfTheModule({ name, capabilities, models }: Module): string[] {
  if (models === undefined) return [];
  const known = new Set(capabilities.map(({ id }) => id));
  return [
    ...(models.name === name ? [] : [`the models of the module ${name} are called ${models.name}`]),
    ...models.capabilities
      .filter((id) => !known.has(id))
      .map((id) => `the models of the module ${name} serve ${id}, which is no capability of it`),
  ];
}

function clashes(
  modules: readonly Module[],
  what: string,
  broughtBy: (module: Module) => object | undefined,
  shared: readonly string[] = [],
): string[] {
  const owners = new Map(shared.map((name) => [name, 'core']));
  return modules.flatMap((module) =>
    Object.keys(broughtBy(module) ?? {}).flatMap((name) => {
      const owner = owners.get(name);
      owners.set(name, module.name);
      return owner === undefined ? [] : [`the ${what} ${name} is brought by ${owner} and by ${module.name}`];
    }),
  );
}

function problemsOf(modules: readonly Module[]): ProblemCatalogue {
  const all: ProblemCatalogue = Object.assign({}, sharedProblems, ...modules.map(({ problems }) => problems));
  return Object.fromEntries(Object.entries(all).sort(([, left], [, right]) => left.status - right.status));
}

/** Whether an account has nothing in any module. */
export async function isEmptyIn(modules: readonly Module[], db: Queryable, accountId: string): Promise<boolean> {
  const found = await Promise.all(modules.map((module) => module.isEmpty?.(db, accountId) ?? true));
  return found.every((isEmpty) => isEmpty);
}
