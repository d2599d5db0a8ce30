// Approvals at the gateway: whatever door a call came in by, rules of its account are looked at once its input is known, and before it runs. A call
// whose rules changed while it ran, or that was approved meanwhile, is looked at again.
import { createHash } from 'node:crypto';
import { type Asked, CallApproval, LookAgain, meeting } from '../approvals/call-approval.ts';
import type { Rule, RuleSets } from '../approvals/rules.ts';
import type { OwnRule } from '../core/callers/context.ts';
import { isRulesChanged, rulesChanged } from '../core/callers/rules-version.ts';
import { KEY_FIELD } from '../core/idempotency/fingerprint.ts';
import { withoutSecrets } from '../core/requests/entry.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { toJson } from '../lib/json-text.ts';
import { TimeSlices } from '../lib/time-slices.ts';
import { takesBody } from '../manifest/failures.ts';
import { secretPaths } from '../manifest/secret-fields.ts';
import { authorize } from './authorize.ts';
import type { Call } from './call.ts';

/** Longer ones are not shown to people. */
const SHOWN_CHARACTERS_MAX = 64 * 1024;
const LOOKS_MAX = 4;

type Ruled = { readonly ruleSets: RuleSets };

/** Runs `work` where no rule of the account stands in its way. Throws APPROVAL_REQUIRED, APPROVAL_DENIED, and what `work` throws. */
export async function underRules<Result>(
  { ruleSets }: Ruled,
  call: Call,
  asked: Asked,
  work: () => Promise<Result>,
): Promise<Result> {
  const ownKey = call.idempotency?.raw ?? null;
  call.asked = asked;
  for (let looks = 1; ; looks += 1) {
    call.approval = await approvalOf(ruleSets, call, asked, ownKey);
    try {
      await call.approval?.enter(looks > 1);
      const result = await work();
      await call.approval?.settle();
      return result;
    } catch (error) {
      await call.approval?.giveBack(error);
      const isOld = isRulesChanged(error);
      if (!isOld && !(error instanceof LookAgain)) throw error;
      if (!asked.isRepeatable || looks === LOOKS_MAX) throw isOld ? error : rulesChanged();
      if (isOld) await identifyAgain(call);
    }
  }
}

/**
 * The same of a call that runs on by itself: whoever runs it tells its approval how it ended. Throws APPROVAL_REQUIRED, APPROVAL_DENIED.
 */
export async function enterRules({ ruleSets }: Ruled, call: Call, asked: Asked): Promise<void> {
  call.asked = asked;
  call.approval = await approvalOf(ruleSets, call, asked, call.idempotency?.raw ?? null);
  try {
    await call.approval?.enter(false);
  } catch (error) {
    throw error instanceof LookAgain ? rulesChanged() : error;
  }
}

/**
 * One more rule meets the call, which has begun to run: one of the module's own, such as that of a credential. It binds keys, as those of the
 * account do. Throws APPROVAL_REQUIRED, APPROVAL_DENIED.
 */
export async function askFirst(call: Call, { name, expiresMs, binds }: OwnRule): Promise<void> {
  const { asked, principal } = call;
  if (principal.rulesVersion === null) return;
  if (asked === null) throw new Error(`${call.capability} does not run under rules yet`);
  const rule: Rule = {
    name,
    capabilities: [call.capability],
    keys: null,
    costAboveNanos: null,
    input: null,
    firstUse: false,
    approvers: null,
    expiresMs,
    reasonRequired: false,
    binds,
  };
  call.approval ??= await CallApproval.of(call, asked, [], call.idempotency?.raw ?? null);
  await call.approval.meet(rule);
}

/** Null: no rule may meet the call. */
async function approvalOf(ruleSets: RuleSets, call: Call, asked: Asked, ownKey: string | null) {
  const { rulesVersion, id } = call.principal;
  if (rulesVersion === null || rulesVersion === 0n) return null;
  const known = ruleSets.of(call.core.db, call.accountId, rulesVersion);
  const rules = (known instanceof Promise ? await known : known).of(call.endpoint.capability, id);
  const met = rules.length === 0 ? rules : await meeting(rules, asked);
  return met.length === 0 ? null : CallApproval.of(call, asked, met, ownKey);
}

/** The caller with the rules as they are now. */
async function identifyAgain(call: Call): Promise<void> {
  const { principal } = call;
  call.core.keys.drop(principal.id);
  const now = await principal.kind.again(principal);
  if (typeof now === 'string') throw principal.kind.refusal(now);
  call.setPrincipal(now);
  authorize(call);
}

/** A call whose input was read as JSON. */
export function askedOf(call: Call): Asked {
  return {
    canonical: () => canonicalOf(call),
    shownInput: () => shownJson(call, jsonOf(call)),
    facts: () => (isBulk(call) ? objectIn(call.body) : call.input),
    isRepeatable: true,
  };
}

/**
 * A call whose input its caller has read: `input` tells it from others, in the names of the capability. `content`: the rest of it, which is read
 * only where a rule may meet the call.
 */
export function askedWith(
  call: Call,
  input: Readonly<Record<string, unknown>>,
  content: () => Promise<Readonly<Record<string, unknown>>> = async () => ({}),
): Asked {
  let whole: Readonly<Record<string, unknown>> = input;
  const readWhole = async () => {
    if (whole === input) whole = { ...input, ...(await content()) };
    return whole;
  };
  return {
    canonical: async () => canonicalJson(toJson(await readWhole())),
    shownInput: () => shownJson(call, toJson(whole)),
    facts: readWhole,
    isRepeatable: false,
  };
}

/** A request of another protocol, as it was sent. */
export interface SentRequest {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly contentType: string;
  /** That of its head, which the call may take later. */
  readonly idempotencyKey: string;
  /** Null: it is read as it comes; then its announced length and hash stand for it. */
  readonly body: Buffer | null;
  readonly announced: readonly (string | undefined)[];
}

/** What a client makes anew for each request: signatures and their times. */
const SIGNING = /^(?:x-amz-|auth_|signature$|signatureversion$|signaturemethod$|timestamp$|expires$|awsaccesskeyid$)/i;
const BOUNDARY = /boundary="?([^";]+)/i;

/** The call of such a request. A rule over the input holds, since its names are another protocol's. */
export function askedBy(call: Call, sent: SentRequest): Asked {
  const target = () => `${sent.method} ${withoutSignature(sent.url)}`;
  return {
    canonical: async () => JSON.stringify([target(), sent.idempotencyKey, await contentOf(sent)]),
    shownInput() {
      const { body } = sent;
      const json = body === null ? null : objectIn(body);
      const bytes = body === null ? {} : { bytes: body.length };
      return shownJson(call, JSON.stringify(json === null ? { request: target(), ...bytes } : json));
    },
    facts: () => null,
    isRepeatable: false,
  };
}

function withoutSignature(url: string): string {
  const [path = '', query = ''] = url.split('?', 2);
  const pairs = [...new URLSearchParams(query)].filter(([name]) => !SIGNING.test(name)).sort();
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

const SLICE_BYTES = 1024 * 1024;
const slices = new TimeSlices();

/** A hash of the body. The boundary of a form is another one each time, and left out. */
async function contentOf({ body, contentType, announced }: SentRequest): Promise<string> {
  if (body === null) return JSON.stringify(announced.map((value) => value ?? ''));
  const content = createHash('sha256');
  const boundary = BOUNDARY.exec(contentType)?.[1];
  for (const part of boundary === undefined ? [body] : partsBetween(body, boundary)) {
    content.update(`${part.length}\n`);
    for (let at = 0; at < part.length; at += SLICE_BYTES) {
      content.update(part.subarray(at, at + SLICE_BYTES));
      if (slices.isOver) await slices.next();
    }
  }
  return content.digest('base64url');
}

/** Only where it stands as a boundary: the same word within a part is content. */
function* partsBetween(body: Buffer, boundary: string): Generator<Buffer> {
  const [first, next] = [`--${boundary}`, `\r\n--${boundary}`];
  let from = body.indexOf(first) === 0 ? first.length : 0;
  for (let at = body.indexOf(next, from); at !== -1; at = body.indexOf(next, from)) {
    yield body.subarray(from, at);
    from = at + next.length;
  }
  yield body.subarray(from);
}

function isBulk({ endpoint: { capability } }: Call): boolean {
  return capability.bulk !== undefined;
}

/** All that tells the input from another: numbers as they were written, beside what stood in path and query. */
function canonicalOf(call: Call): string {
  const { endpoint, inputText, input } = call;
  if (!takesBody(endpoint.capability)) return canonicalJson(toJson(input));
  // The rule came after the body was read, and nothing else tells one body from another: the caller sends it again.
  if (isBulk(call) && call.contentHash === '') throw rulesChanged();
  const body = isBulk(call) ? call.contentHash : canonicalJson(inputText === '' ? '{}' : inputText, withoutPath(call));
  return `${canonicalJson(toJson(pathOf(call)))}\n${body}`;
}

function pathOf({ endpoint, input }: Call): Record<string, unknown> {
  return Object.fromEntries(endpoint.pathFields.map((name) => [name, input[name]]));
}

function withoutPath({ endpoint }: Call): ReadonlySet<string> {
  return new Set([KEY_FIELD, ...endpoint.pathFields]);
}

/** The input as JSON text; null: it is not kept. */
function jsonOf(call: Call): string | null {
  const { inputText, input, body } = call;
  if (isBulk(call)) return body === null ? null : body.toString('utf8');
  if (inputText === '' || inputText.length > SHOWN_CHARACTERS_MAX) return toJson(input);
  const { [KEY_FIELD]: _key, ...sent } = JSON.parse(withAllDigits(inputText)) as Record<string, unknown>;
  return JSON.stringify({ ...sent, ...pathOf(call) });
}

export function shownJson({ endpoint }: Call, text: string | null): string | null {
  if (text === null || text.length > SHOWN_CHARACTERS_MAX) return null;
  return withoutSecrets(withAllDigits(text), secretPaths(endpoint.capability));
}

/** More than a double holds. */
const DIGITS_MAX = 15;

/** A number that would lose digits becomes a text, so that people see all of it. */
function withAllDigits(text: string): string {
  if (!/\d{16}|\d\.\d{8}/.test(text)) return text;
  const keep = (_name: string, value: unknown, { source = '' }: { source?: string } = {}) =>
    typeof value === 'number' && source.replaceAll(/\D/g, '').length > DIGITS_MAX ? source : value;
  try {
    return JSON.stringify(JSON.parse(text, keep as (name: string, value: unknown) => unknown));
  } catch {
    return text;
  }
}

/** Null: it is no object, not kept, or long. */
export function objectIn(body: Buffer | null): Readonly<Record<string, unknown>> | null {
  if (body === null || body.length > SHOWN_CHARACTERS_MAX) return null;
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
