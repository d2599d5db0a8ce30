// Tool lists by address: those of its modules that the key's scopes allow. Each is built once for all keys with the same rights, in a fixed
// order, so that clients' prompts cache.
import type { Tool } from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import { admission } from '../../core/admission.ts';
import { moduleOf, scopesAllow } from '../../core/callers/scopes.ts';
import { type Capability, toolName } from '../../kit/capability.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { partsOf } from '../../manifest/parts.ts';
import { notBuilt, plannedModules } from '../../manifest/planned/modules.ts';
import { problem } from '../../problems/problem.ts';
import { type OwnTool, ownTools, type Reach } from './own-tools.ts';
import { toolsOf } from './tools.ts';

/** Of long lists of scopes, each a set of its own, none is kept. */
const KEY_CHARACTERS_MAX = 4_000;

type Scopes = readonly string[] | null;

/** What a request asks for: the last part of its path, and `read_only`. */
export interface Asked {
  /** Null: `/mcp` itself. */
  readonly modules: string | null;
  readonly readOnly: boolean;
}

export interface ToolSet extends Reach {
  readonly tools: readonly Tool[];
  /** By the tool's name. A capability is here also when the key may not call it: then the call says which scope it lacks. */
  find(name: string): Capability | OwnTool | undefined;
}

interface Part {
  readonly name: string;
  /** Of its capabilities. */
  readonly ids: ReadonlySet<string>;
}

export class ToolSets {
  readonly #manifest: Manifest;
  readonly #byTool: ReadonlyMap<string, Capability>;
  readonly #parts: readonly Part[];
  readonly #tools = new Map<string, Tool>();
  readonly #sets = new LRUCache<string, ToolSet>({ max: admission.all.toolSetsRemembered });

  constructor(manifest: Manifest) {
    this.#manifest = manifest;
    this.#byTool = new Map(manifest.capabilities.map((each) => [toolName(each.id), each]));
    this.#parts = manifest.modules
      .flatMap(partsOf)
      .map(({ name, capabilities }) => ({ name, ids: new Set(capabilities.map(({ id }) => id)) }));
  }

  /** Throws NOT_FOUND, CAPABILITY_NOT_FOUND for a module that there is not. */
  of(asked: Asked, scopes: Scopes): ToolSet {
    const modules = this.#modulesOf(asked.modules, scopes);
    const key = JSON.stringify([modules, asked.readOnly, scopes]);
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    const set = this.#make(modules, asked.readOnly, scopes);
    if (key.length <= KEY_CHARACTERS_MAX) this.#sets.set(key, set);
    return set;
  }

  #make(modules: readonly string[] | null, readOnly: boolean, scopes: Scopes): ToolSet {
    // Programs come with keys: what only a person may call is no tool of theirs.
    const may = ({ id, scope, anyKey, gates }: Capability) =>
      gates?.includes('person') !== true && (anyKey === true || scopesAllow(scopes, id, scope));
    const allowed = this.#manifest.capabilities.filter(may);
    const here = this.#parts.filter(({ name }) => modules?.includes(name) === true);
    const isHere = ({ id }: Capability) => here.some(({ ids }) => ids.has(id));
    const listed = allowed.filter((each) => isHere(each) && (!readOnly || each.scope === 'read'));
    const own = ownTools.filter(({ isEverywhere }) => modules === null || isEverywhere);
    return {
      tools: [...listed.map((each) => this.#tool(each)), ...own.map(({ tool }) => tool)],
      readOnly,
      allowed: new Set(allowed.map(({ id }) => id)),
      find: (name) => {
        const capability = this.#byTool.get(name);
        return capability !== undefined && isHere(capability) ? capability : own.find(({ tool }) => tool.name === name);
      },
    };
  }

  #tool(capability: Capability): Tool {
    const known = this.#tools.get(capability.id);
    if (known !== undefined) return known;
    const ids = this.#parts.find((part) => part.ids.has(capability.id))?.ids;
    const besides = this.#manifest.capabilities.filter(({ id }) => ids?.has(id) === true);
    for (const [id, tool] of toolsOf(this.#manifest, besides)) this.#tools.set(id, tool);
    return this.#tools.get(capability.id) as Tool;
  }

  /** In the order of the manifest; null: those of `/mcp`. */
  #modulesOf(sent: string | null, scopes: Scopes): readonly string[] | null {
    const names = this.#parts.map(({ name }) => name);
    if (sent === null) {
      const reached = new Set((scopes ?? ['*']).map((scope) => moduleOf(scope.split(':', 1)[0] as string)));
      const only = names.filter((name) => reached.has(moduleOf(name)));
      return reached.size === 1 && only.length > 0 ? only : null;
    }
    if (sent === 'all') return names;
    const wanted = new Set(sent.split(','));
    for (const name of wanted) if (!names.includes(name)) throw this.#unknown(name, names);
    return names.filter((name) => wanted.has(name));
  }

  #unknown(name: string, names: readonly string[]) {
    if (plannedModules(this.#manifest.modules).has(name)) return notBuilt(name);
    const near = nearest(name, names, 1);
    const hint = near.length === 0 ? '' : ` Did you mean ${near[0]}?`;
    const message = `There is no module ${JSON.stringify(name.slice(0, 64))}.${hint} Name modules as /mcp/queue,vector, or take /mcp/all.`;
    return problem('NOT_FOUND', { message, param: 'modules' });
  }
}
