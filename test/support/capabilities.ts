// Calls of capabilities as the manifest describes them, for tests that loop over it: path, query and body are filled from one input.

import { setTimeout as sleep } from 'node:timers/promises';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { type afterAll, type afterEach, expect } from 'vitest';
import { type Capability, type CapabilityExample, pathParameters } from '../../src/kit/capability.ts';
import type { Services } from '../../src/kit/services.ts';
import { modules } from '../../src/modules/index.ts';
import { composeManifest } from '../../src/surfaces/documents/discovery.ts';
import { leaveCard } from './leave-card.ts';
import {
  type Client,
  createTestAccount,
  createTestOperator,
  mailedCode,
  type Reply,
  type TestAccount,
} from './service.ts';
import { EXAMPLE_SITE, exampleSite } from './site.ts';

export const manifest = composeManifest(modules);
/** MODULE: loops go through the operations of that module alone. */
const { MODULE } = process.env;
/** What holds of all operations together is not looked at then. */
export const isOneModule = MODULE !== undefined;
/** What no key may call is not among them: its tests call it as a person. */
export const capabilities: readonly Capability[] = manifest.capabilities.filter(
  ({ id, gates }) => (MODULE === undefined || id.startsWith(`${MODULE}.`)) && gates?.includes('person') !== true,
);
if (capabilities.length === 0) throw new Error(`there is no module ${MODULE}`);

export type Input = Readonly<Record<string, unknown>>;

export interface HttpCall {
  readonly method: string;
  readonly path: string;
  /** Absent for GET, and where no field is left for it. */
  readonly body?: Record<string, unknown>;
}

/** The call over HTTP: names in the path go there, the rest into the query (GET, DELETE) or the body. */
export function httpCall(capability: Pick<Capability, 'method' | 'path'>, input: Input): HttpCall {
  const inPath = new Set(pathParameters(capability.path));
  const path = capability.path.replaceAll(/\{([a-z_]+)\}/g, (_, name) => encodeURIComponent(String(input[name])));
  const rest = Object.entries(input).filter(([name]) => !inPath.has(name));
  if (capability.method !== 'GET' && capability.method !== 'DELETE') {
    return { method: capability.method, path, body: Object.fromEntries(rest) };
  }
  const query = new URLSearchParams();
  for (const [name, value] of rest) {
    if (Array.isArray(value)) for (const item of value) query.append(name, String(item));
    else query.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  return { method: capability.method, path: query.size === 0 ? path : `${path}?${query}` };
}

export function callCapability(
  call: Client,
  capability: Pick<Capability, 'method' | 'path'>,
  input: Input,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const { method, path, body } = httpCall(capability, input);
  return call(method, path, body, headers);
}

export function byId(id: string): Capability {
  const capability = manifest.byId.get(id);
  if (capability === undefined) throw new Error(`there is no capability ${id}`);
  return capability;
}

/** Whether only the operator may call it: its examples are the operator's. */
export function isOperators({ gates }: Pick<Capability, 'gates'>): boolean {
  return gates?.includes('operator') === true;
}

/** An account that may call the capability and play its examples, with a key for everything. */
export function createPlayer(core: Services, capability: Pick<Capability, 'gates'>, usd = 100): Promise<TestAccount> {
  return isOperators(capability) ? createTestOperator(core, usd) : createTestAccount(core, usd);
}

export interface Played {
  readonly capability: Capability;
  readonly input: Input;
  readonly reply: Reply;
  /** As the example says. */
  readonly isRefused: boolean;
}

/** Makes the calls of an example in order: those of `before`, then its own. All but the last must succeed. */
export async function playExample(call: Client, capability: Capability, example: CapabilityExample): Promise<Played[]> {
  const { before = [], input } = example;
  const played: Played[] = [];
  for (const step of [...before, { capability: capability.id, input }]) {
    const target = byId(step.capability);
    const resolved = withAnswers(await atSite(step.input), played) as Input;
    const reply = await callUntil(call, target, resolved, 'until' in step ? step.until : undefined);
    const isRefused = isRefusedAsSaid(step, reply);
    played.push({ capability: target, input: resolved, reply, isRefused });
    if (isRefused) continue;
    if (target !== capability) await personActs(target.id, reply, capability);
    if (reply.status !== 200)
      expect(reply.body, `${capability.id}, "${example.title}": ${target.id}`).toMatchObject({ ok: true });
  }
  return played;
}

/** A call that is refused as its example says: its error stands where its data would. */
function isRefusedAsSaid(step: object, { body }: Reply): boolean {
  if (!('refused' in step) || body.error?.code !== step.refused) return false;
  body.data = body.error;
  return true;
}

/** Calls again until the data contains the fields of `until`; once when there are none. */
async function callUntil(call: Client, capability: Capability, input: Input, until?: Input): Promise<Reply> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const reply = await callCapability(call, capability, input);
    const entries = Object.entries(until ?? {});
    if (reply.status !== 200 || entries.every(([name, value]) => reply.body.data[name] === value)) return reply;
    if (performance.now() > deadline) throw new Error(`${capability.id} never answered ${JSON.stringify(until)}`);
    await sleep(100);
  }
}

/**
 * Whoever gets the link of a page for payment methods leaves one; what a mail says stands beside the answer afterwards. What an example
 * of the operator tops up is put under review.
 */
async function personActs(capability: string, { body }: Reply, example: Capability): Promise<void> {
  const { setup_id, checkout_url, email } = body.data ?? {};
  if (setup_id !== undefined) await leaveCard(checkout_url);
  if (capability === 'account.topup' && isOperators(example)) await leaveCard(checkout_url, 'reviewed');
  if (capability === 'account.email.bind') body.data.code = await mailedCode(email);
}

/**
 * Drawing a video takes a second of a core. Of one that `later` wait for the smallest is drawn; another fails before it is drawn, as its
 * prompt orders the sandbox. What is accepted and answered is the same.
 */
export function littleDrawn(capability: string, input: Input, later: CapabilityExample['before'] = []): Input {
  if (typeof input.prompt !== 'string' || !/^(?:video|image)[.]/.test(capability)) return input;
  const isAwaited = later.some(({ until }) => until !== undefined);
  if (isAwaited) return capability.startsWith('video.') ? { ...input, aspect_ratio: '1:1' } : input;
  return input.prompt.includes('[[') ? input : { ...input, prompt: `${input.prompt} [[fail:VENDOR_ERROR]]` };
}

/** The input of an example with the answers of its `before` calls put in, ready to be sent. */
export async function prepareExample(call: Client, capability: Capability, index = 0): Promise<Input> {
  const example = capability.examples[index] as CapabilityExample;
  const played: Played[] = [];
  const { before = [] } = example;
  for (const [i, step] of before.entries()) {
    const sent = withAnswers(await atSite(step.input), played) as Input;
    const input = littleDrawn(step.capability, sent, before.slice(i + 1));
    const target = byId(step.capability);
    const reply = await callUntil(call, target, input, step.until);
    const isRefused = isRefusedAsSaid(step, reply);
    if (!isRefused) {
      expect(reply.body, `${capability.id}: ${target.id}`).toMatchObject({ ok: true });
      await personActs(target.id, reply, capability);
    }
    played.push({ capability: target, input, reply, isRefused });
  }
  return littleDrawn(capability.id, withAnswers(await atSite(example.input), played) as Input);
}

/** Modules whose jobs go on after their call. */
const MODULES_OF_JOBS = ['video', 'image'];

/**
 * For a file that plays examples: ends the videos and images that they began, of the accounts that it is given, where `hook` runs. Nobody
 * waits for them any more, and drawing them would take a core.
 */
export function endVideosAfter(hook: typeof afterEach | typeof afterAll): (call: Client) => Client {
  const begun = new Map<Client, Set<string>>();
  hook(async () => {
    for (const [call, modules] of begun) {
      for (const module of modules) {
        for (const state of ['queued', 'running']) {
          const { body } = await call('GET', `/v1/${module}/list?state=${state}`);
          for (const { job_id } of body.data?.items ?? []) await call('POST', `/v1/${module}/cancel/${job_id}`);
        }
      }
    }
    begun.clear();
  });
  return (call) => {
    const modules = new Set<string>();
    begun.set(call, modules);
    return (method, path, ...rest) => {
      const module = MODULES_OF_JOBS.find((each) => path.startsWith(`/v1/${each}/`));
      if (module !== undefined && method === 'POST') modules.add(module);
      return call(method, path, ...rest);
    };
  };
}

/** Pages of the outside world are read of a site on this machine, whether they are named by an address or by their host. */
export async function atSite(input: Input): Promise<Input> {
  const text = JSON.stringify(input);
  const host = JSON.stringify(new URL(EXAMPLE_SITE).host);
  if (!text.includes(EXAMPLE_SITE) && !text.includes(host)) return input;
  const { url } = await exampleSite();
  return JSON.parse(text.replaceAll(EXAMPLE_SITE, url).replaceAll(host, JSON.stringify(new URL(url).host)));
}

let addresses = 0;

/** Every `$N.path` replaced by what it stands for in the data of the N-th answer. */
export function withAnswers(value: unknown, played: readonly Played[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withAnswers(item, played));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withAnswers(item, played)]));
  }
  // No address gets more than a few mails an hour.
  if (value === 'ada@example.com') {
    addresses += 1;
    return `ada${addresses}@example.com`;
  }
  // An address with an inbox exists once in the service.
  if (typeof value === 'string' && value.endsWith('@inbox.test')) {
    const taken = played.map(({ input }) => input.address).find((address) => String(address).endsWith('@inbox.test'));
    if (taken !== undefined) return taken;
    addresses += 1;
    return `inbox${addresses}@inbox.test`;
  }
  // A zone exists once in the service.
  if (value === 'shop.test') {
    addresses += 1;
    return `shop${addresses}.test`;
  }
  const match = typeof value === 'string' ? /^\$(\d+)\.([A-Za-z0-9_.[\]]+)$/.exec(value) : null;
  if (match === null) return value;
  const [, step, path = ''] = match;
  const data = played[Number(step)]?.reply.body.data;
  const segments = path.split(/[.[\]]+/).filter((segment) => segment !== '');
  const found = segments.reduce((at, segment) => at?.[segment], data);
  if (found === undefined) throw new Error(`${value} is not in the answer ${JSON.stringify(data)}`);
  return found;
}

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
const validators = new Map<string, ValidateFunction>();

/** Faults of an answer's data against the output schema; empty when it keeps it. */
export function outputFaults(capability: Capability, data: unknown): string {
  let validate = validators.get(capability.id);
  if (validate === undefined) {
    validate = ajv.compile(capability.output);
    validators.set(capability.id, validate);
  }
  return validate(data) === true ? '' : ajv.errorsText(validate.errors);
}
