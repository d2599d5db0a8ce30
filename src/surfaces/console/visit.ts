// One visit of a page, as pages know it (kit/console/visit.ts). Every call goes the way of all calls, as the visitor.
import type { Static, TSchema } from 'typebox';
import type { Principal } from '../../core/callers/principal.ts';
import { levelsOf, liveModules, type ModuleLevels, scopesAllow } from '../../core/callers/scopes.ts';
import type { Capability } from '../../kit/capability.ts';
import type { ModuleConsole } from '../../kit/console/page.ts';
import type {
  Callable,
  CodeSample,
  Draft,
  Failures,
  Input,
  PersonSections,
  Read,
  Refused,
  Visit,
} from '../../kit/console/visit.ts';
import type { EventWords } from '../../kit/event-kind.ts';
import { releasedEvents } from '../../kit/offer.ts';
import type { RawOutcome, RawRequest } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import type { JsonText } from '../../lib/json-text.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { curlOf } from '../documents/curl.ts';
import { samplesOfCalls } from '../documents/samples/samples.ts';
import { personSections } from '../pages/auth/person-sections.ts';
import { pathTo, type Visitor } from '../pages/visitor.ts';
import type { Preferences } from './preferences.ts';

export interface MadeCall {
  readonly capability: Capability;
  readonly input: Input;
}

export interface VisitParts {
  readonly core: Services;
  readonly manifest: Manifest;
  readonly consoles: readonly ModuleConsole[];
  readonly request: RawRequest;
  readonly params: Readonly<Record<string, string>>;
  readonly visitor: Visitor;
  readonly principal: Principal;
  readonly preferences: Preferences;
  readonly refused?: Refused;
  readonly draft?: Draft;
}

interface Looked {
  readonly path: string;
  readonly failures: Failures;
}

export class PageVisit implements Visit {
  readonly #parts: VisitParts;
  readonly #made: MadeCall[] = [];
  #looked: Promise<readonly Looked[]> | null = null;
  #waiting: Promise<ReadonlyMap<string, number>> | null = null;

  constructor(parts: VisitParts) {
    this.#parts = parts;
  }

  get params(): Readonly<Record<string, string>> {
    return this.#parts.params;
  }

  get query(): URLSearchParams {
    return this.#parts.request.query;
  }

  get url(): string {
    return this.#parts.request.url;
  }

  get here(): string {
    const { pathname, search, searchParams } = new URL(this.url, 'http://own.invalid');
    if (!searchParams.has('done')) return this.elsewhere(`${pathname}${search}`);
    searchParams.delete('done');
    return this.elsewhere(`${pathname}${searchParams.size === 0 ? '' : `?${searchParams}`}`);
  }

  get visitor(): Visitor {
    return this.#parts.visitor;
  }

  get principal(): Principal {
    return this.#parts.principal;
  }

  get personId(): string | null {
    return this.visitor.person?.personId ?? null;
  }

  get formToken(): string {
    return this.visitor.formToken;
  }

  get preferences(): Preferences {
    return this.#parts.preferences;
  }

  get refused(): Refused | null {
    return this.#parts.refused ?? null;
  }

  get draft(): Draft | null {
    return this.#parts.draft ?? null;
  }

  get requestId(): string {
    return this.#parts.request.requestId;
  }

  get nowMs(): number {
    return this.visitor.session.nowMs;
  }

  get baseUrl(): string {
    return this.#parts.core.baseUrl;
  }

  get modules(): readonly ModuleLevels[] {
    return liveModules(this.#parts.core.knownScopes).map((module) => ({ module, levels: levelsOf(module) }));
  }

  get eventTypes(): readonly string[] {
    return [...this.#parts.core.eventTypes].flatMap(([type, status]) => (status === 'ga' ? [type] : []));
  }

  eventWords(type: string): EventWords | undefined {
    const kind = releasedEvents(this.#parts.manifest).find((told) => told.type === type);
    return kind === undefined ? undefined : (kind.words ?? { one: () => kind.summary.replace(/\.$/, '') });
  }

  summaryOf(id: string): string | null {
    return this.#parts.manifest.byId.get(id)?.summary ?? null;
  }

  /** The calls so far, in their order. */
  get made(): readonly MadeCall[] {
    return this.#made;
  }

  path(below: string): string {
    return this.elsewhere(`/console${below}`);
  }

  elsewhere(path: string): string {
    return pathTo(this.#parts.core, path);
  }

  may({ id }: Pick<Callable, 'id'>): boolean {
    const found = this.#parts.manifest.byId.get(id);
    if (found === undefined) return false;
    return found.anyKey === true || scopesAllow(this.principal.scopes, found.id, found.scope);
  }

  async call<Out extends TSchema>({ id }: Callable<Out>, input: Input = {}): Promise<Read<Static<Out>>> {
    this.#made.push({ capability: this.capability(id), input });
    return readOf(await this.#parts.request.invoke(id, input));
  }

  async need<Out extends TSchema>(capability: Callable<Out>, input: Input = {}): Promise<Static<Out>> {
    const read = await this.call(capability, input);
    if (read.problem !== null) throw read.problem;
    return read.data;
  }

  /** The write of a form, once for its key. */
  async write({ id }: Pick<Callable, 'id'>, input: Input | JsonText, idempotencyKey: string): Promise<Read<unknown>> {
    const { idempotent } = this.capability(id);
    return readOf(await this.#parts.request.invoke(id, input, idempotent ? { idempotencyKey } : {}));
  }

  tell({ id }: Pick<Callable, 'id'>, input: Input): void {
    this.#made.push({ capability: this.capability(id), input });
  }

  curl({ id }: Pick<Callable, 'id'>, input: Input): string {
    return curlOf(this.capability(id), input, this.baseUrl);
  }

  samples(calls: readonly (readonly [Pick<Callable, 'id'>, Input])[]): readonly CodeSample[] {
    const made = calls.map(([{ id }, input]) => ({ capability: this.capability(id), input }));
    return samplesOfCalls(made, this.baseUrl);
  }

  async failures(): Promise<Failures> {
    const found = (await this.#look()).map(({ failures }) => failures);
    return {
      rows: found.flatMap(({ rows }) => rows),
      count: found.reduce((sum, { count }) => sum + count, 0),
      limits: found.flatMap(({ limits }) => limits),
    };
  }

  /** How many things fail, by the path of the entry of the navigation. */
  async failing(): Promise<ReadonlyMap<string, number>> {
    return new Map((await this.#look()).map(({ path, failures: { count } }) => [path, count]));
  }

  /** The same where the page has looked; null: it has not. */
  get failingSoFar(): Promise<ReadonlyMap<string, number>> | null {
    return this.#looked === null ? null : this.failing();
  }

  /** Once a visit. */
  waiting(): Promise<ReadonlyMap<string, number>> {
    this.#waiting ??= Promise.all(
      this.#parts.consoles.flatMap(({ waiting }) =>
        waiting === undefined ? [] : [waiting.of(this).then((count) => [waiting.path, count] as const)],
      ),
    ).then((counts) => new Map(counts));
    return this.#waiting;
  }

  /** The same where the page has looked; null: it has not. */
  get waitingSoFar(): Promise<ReadonlyMap<string, number>> | null {
    return this.#waiting;
  }

  /** Once a visit. */
  #look(): Promise<readonly Looked[]> {
    this.#looked ??= Promise.all(
      this.#parts.consoles.flatMap(({ failing }) =>
        failing === undefined ? [] : [failing.of(this).then((failures): Looked => ({ path: failing.path, failures }))],
      ),
    );
    return this.#looked;
  }

  personSections(below: string, localTime: (instant: string) => string): Promise<PersonSections> {
    return personSections(this.#parts.core, this.visitor, { returnTo: this.path(below), localTime });
  }

  capability(id: string): Capability {
    const capability = this.#parts.manifest.byId.get(id);
    if (capability === undefined) throw new Error(`there is no capability ${id} for a page`);
    return capability;
  }
}

/** As the envelope tells it: a page knows no more than a caller over HTTP. */
function readOf<Data>({ problem, envelope }: RawOutcome): Read<Data> {
  const { data, metadata } = JSON.parse(envelope) as { data: Data; metadata: { request_id: string } };
  const requestId = metadata.request_id;
  return problem === null
    ? { data, text: envelope, problem, requestId }
    : { data: null, text: envelope, problem, requestId };
}
