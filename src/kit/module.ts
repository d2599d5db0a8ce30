// A module and everything that it adds: capabilities with their prices, limits, events and error codes, its per-process state, and its
// background work. No list elsewhere repeats any of it.

import type { Variables } from '../config/variables.ts';
import type { JobLoop } from '../core/background/job-loop.ts';
import type { Sweep } from '../core/background/sweeper/sweep.ts';
import type { CountedLimit } from '../core/callers/tiers.ts';
import type { Metric } from '../core/process/metric.ts';
import type { Price } from '../core/wallet/prices.ts';
import type { Queryable } from '../db/database.ts';
import type { ProblemCatalogue } from '../problems/catalogue.ts';
import type { ModelFamily } from '../vendors/file/port.ts';
import type { AlertSource } from './alert-source.ts';
import type { Capability } from './capability.ts';
import type { ModuleConsole } from './console/page.ts';
import type { EventKind } from './event-kind.ts';
import type { Finder } from './finder.ts';
import type { Offer } from './offer.ts';
import type { ProtocolServerOf } from './protocol-server.ts';
import type { PublicPage } from './public-page.ts';
import type { RawRoute } from './raw-route.ts';
import type { Services } from './services.ts';
import type { SocketRoute } from './socket-route.ts';

/** A client of another service that speaks to this one unchanged. */
export interface ForeignClient {
  readonly client: string;
  /** What it is given, with `{base_url}` for the root: `{base_url}/v1`. */
  readonly address: string;
  /** In a few words. */
  readonly use: string;
  /** Ids of the capabilities that its calls are calls of. */
  readonly serves: readonly string[];
}

/** The calls of a module whose ids begin with its name and a dot. */
export interface ModulePart {
  /** `account.webhooks`. */
  readonly name: string;
  readonly summary: string;
  readonly shownBy: readonly [string, string];
}

export interface Module<State = unknown, Settings = unknown> {
  readonly name: string;
  readonly summary: string;
  readonly status: 'ga' | 'beta' | 'planned';
  // biome-ignore lint/suspicious/noExplicitAny: the list holds capabilities of different inputs; each is typed where it is defined
  readonly capabilities: readonly Capability<any, State>[];
  /** Capabilities that show what all modules bring, such as the limits of a tier; they stand behind the others. */
  derived?(offer: Offer): readonly Capability[];
  /** Entries of the price book, each named `<module>.<what>`. */
  readonly prices?: Readonly<Record<string, Price>>;
  /** What an account of each tier may have, by the name under which account.tier shows it. */
  readonly limits?: Readonly<Record<string, CountedLimit>>;
  /** The error codes that are its own, thrown by what `problemsWith` makes of the same catalogue. */
  readonly problems?: ProblemCatalogue;
  /** The events that its work tells. */
  readonly events?: readonly EventKind[];
  /** How the models that outside vendors have for it are written in the operator's file, and which capabilities they serve. */
  readonly models?: ModelFamily;
  /** Routes that speak another protocol than the JSON envelope. */
  readonly rawRoutes?: readonly RawRoute<State>[];
  /** Pages for anybody, at addresses that hold a token. */
  readonly publicPages?: readonly PublicPage<State>[];
  /** Routes that take WebSockets. */
  readonly socketRoutes?: readonly SocketRoute<State>[];
  /** Servers of other protocols than HTTP, each on a port of its own. */
  readonly servers?: readonly ProtocolServerOf<State>[];
  /** Who speaks to its raw routes, as README and the documents for agents name them. */
  readonly clients?: readonly ForeignClient[];
  /** How its objects are found by name or id. */
  readonly finders?: readonly Finder[];
  /** What alerts may watch of it. */
  readonly alertSources?: readonly AlertSource[];
  /** Its pages of the console, loaded when somebody first opens one. */
  console?(): Promise<ModuleConsole>;
  /** Ids of the two capabilities whose first examples show it best to agents; the first two when absent. */
  readonly shownBy?: readonly [string, string];
  /** Calls that agents are shown apart, because a document or a list of tools with all would be too long. */
  readonly parts?: readonly ModulePart[];
  /** What it asks the environment for. Every variable is optional; only this module reads it. Throws ConfigError. */
  settings?(variables: Variables): Settings;
  /**
   * Builds the module's state for one process; nothing runs at import time. Throws StartupError for what an operator can mend. Absent: it
   * keeps none.
   */
  start?(core: Services, settings: Settings): State | Promise<State>;
  /** Ends waiting work at shutdown (long polls answer at once). */
  stop?(state: State): Promise<void>;
  /** Frees what the state holds, once no call runs any more. */
  close?(state: State): Promise<void>;
  /** What this process counts, for /metrics. */
  metrics?(state: State): readonly Metric[];
  sweeps?(state: State): readonly Sweep[];
  /** Of the pieces of work that own holds as `<module>:<id>`, those that have not ended: `qm doctor` finds money held for the others. */
  liveWork?(db: Queryable, accountId: string, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** What does not agree in what it keeps for the account, a sentence each: `qm doctor` tells them. */
  examine?(db: Queryable, accountId: string): Promise<readonly string[]>;
  /** Whether the account has nothing in this module that its person could miss; absent: the module keeps nothing. */
  isEmpty?(db: Queryable, accountId: string): Promise<boolean>;
  /** Background jobs; they run on processes with the role work. */
  jobs?(state: State): readonly JobLoop[];
}

/** Identity function; `Module<unknown>` is what the manifest holds. */
export function defineModule<State, Settings = unknown>(module: Module<State, Settings>): Module {
  return module as Module;
}
