// One visit of a page: who is there, what the address asks for, and the calls that the page makes as its visitor. The calls are kept: the
// page tells them at its foot, so that whatever it shows is one paste away.
import type { Core } from '../../core/context.ts';
import type { Principal } from '../../core/principal.ts';
import { liveModules, scopesAllow } from '../../core/scopes.ts';
import type { Capability } from '../../kit/capability.ts';
import type { RawOutcome, RawRequest } from '../../kit/raw-route.ts';
import type { JsonText } from '../../lib/json-text.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { levelsOf, type ModuleOffer } from '../../people/devices/offer.ts';
import type { Problem } from '../../problems/problem.ts';
import { type PersonSections, personSections } from '../pages/auth/person-sections.ts';
import { pathTo, type Visitor } from '../pages/visitor.ts';
import type { Preferences } from './preferences.ts';

type Input = Readonly<Record<string, unknown>>;

/** What a call of the page answered. */
export type Read<Data> =
  | {
      readonly data: Data;
      /** The envelope as it came: what is opaque in it is shown as it was sent. */
      readonly text: string;
      readonly problem: null;
      readonly requestId: string;
    }
  | { readonly data: null; readonly problem: Problem; readonly requestId: string };

export interface MadeCall {
  readonly capability: Capability;
  readonly input: Input;
}

/** What a form was refused with, and what it had sent, so that it is shown again as it was. */
export interface Refused {
  readonly act: string;
  readonly problem: Problem;
  readonly requestId: string;
  readonly form: URLSearchParams;
}

export interface VisitParts {
  readonly core: Core;
  readonly manifest: Manifest;
  readonly request: RawRequest;
  readonly params: Readonly<Record<string, string>>;
  readonly visitor: Visitor;
  readonly principal: Principal;
  readonly preferences: Preferences;
  readonly refused?: Refused;
}

export class Visit {
  readonly #parts: VisitParts;
  readonly #made: MadeCall[] = [];

  constructor(parts: VisitParts) {
    this.#parts = parts;
  }

  /** Path parameters of the address. */
  get params(): Readonly<Record<string, string>> {
    return this.#parts.params;
  }

  get query(): URLSearchParams {
    return this.#parts.request.query;
  }

  /** Path and query, as they were sent. */
  get url(): string {
    return this.#parts.request.url;
  }

  /** This page as the browser knows it, without what the form did that led to it. */
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

  get preferences(): Preferences {
    return this.#parts.preferences;
  }

  /** Of the form that led here; null: none was refused. */
  get refused(): Refused | null {
    return this.#parts.refused ?? null;
  }

  get requestId(): string {
    return this.#parts.request.requestId;
  }

  /** Of the database clock. */
  get nowMs(): number {
    return this.visitor.session.nowMs;
  }

  get baseUrl(): string {
    return this.#parts.core.baseUrl;
  }

  /** The calls so far, in their order. */
  get made(): readonly MadeCall[] {
    return this.#made;
  }

  /** A path of the console, as the browser knows it: `/queues/jobs`. */
  path(below: string): string {
    return this.elsewhere(`/console${below}`);
  }

  /** Any path of the service, as the browser knows it. */
  elsewhere(path: string): string {
    return pathTo(this.#parts.core, path);
  }

  /** Modules that keys may have, as they exist here, each with all its levels. */
  get modules(): readonly ModuleOffer[] {
    return liveModules(this.#parts.core.knownScopes).map((module) => ({ module, levels: levelsOf(module) }));
  }

  /** Whether the visitor may call the capability, as far as scopes say. False for one that this deployment does not have. */
  may(capability: string): boolean {
    const found = this.#parts.manifest.byId.get(capability);
    if (found === undefined) return false;
    return found.anyKey === true || scopesAllow(this.principal.scopes, found.id, found.scope);
  }

  /** Calls the capability and keeps the call for the foot of the page. A failure is an answer: it belongs into the panel that asked. */
  async call<Data>(id: string, input: Input = {}): Promise<Read<Data>> {
    const capability = this.capability(id);
    this.#made.push({ capability, input });
    return readOf(await this.#parts.request.invoke(id, input));
  }

  /** What the page cannot be shown without. Throws the Problem of a failure. */
  async need<Data>(id: string, input: Input = {}): Promise<Data> {
    const read = await this.call<Data>(id, input);
    if (read.problem !== null) throw read.problem;
    return read.data;
  }

  /** The write of a form, once for its key. */
  async write<Data>(id: string, input: Input | JsonText, idempotencyKey: string): Promise<Read<Data>> {
    const { idempotent } = this.capability(id);
    return readOf(await this.#parts.request.invoke(id, input, idempotent ? { idempotencyKey } : {}));
  }

  /** The call of a form that only asked, for the foot of the page with its answer. Never one with a secret in its input or answer. */
  tell(id: string, input: Input): void {
    this.#made.push({ capability: this.capability(id), input });
  }

  /** People, sessions and ways to sign in: no key may touch them, so no capability tells them. `below`: of the page that shows them; `localTime`: an instant as the reader has it. */
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
  return problem === null ? { data, text: envelope, problem, requestId } : { data: null, problem, requestId };
}
