// Exceptions of an event. The last value is the one thrown, those before it are its causes, each deeper than the next. In a group, `mechanism`
// names the parent of a value instead (develop.sentry.dev/sdk/data-model/event-payloads/exception).

import { type ExceptionRecord, type JsonObject, type StackFrame, trimContext, trimFrames } from '../intake/draft.ts';
import { listOf, objectOf, objectsOf, positionOf, textOf } from '../intake/lenient.ts';
import { isOwnCode } from '../intake/own-code.ts';
import { EXCEPTIONS_MAX } from './numbers.ts';

/** The exceptions that were sent, the one thrown last; of very many the ones nearest to it. */
export function exceptionsSent(sent: unknown): readonly JsonObject[] {
  const single = objectOf(sent);
  if (single !== null && !Array.isArray(single.values)) return [single];
  return objectsOf(listOf(sent).slice(-EXCEPTIONS_MAX));
}

/** What was thrown, with what lies behind it as `chain`; null when there is none. */
export function exceptionOf(sent: readonly JsonObject[]): ExceptionRecord | null {
  const outermostFirst = sent.toReversed();
  const [thrown] = outermostFirst;
  return thrown === undefined ? null : withChain(thrown, childrenOf(outermostFirst));
}

/** Frames of an event's stack trace, the innermost first; SDKs send them last. */
export function framesOf(stacktrace: unknown): readonly StackFrame[] {
  return trimFrames(listOf(objectOf(stacktrace)?.frames).toReversed(), (frame) => frameOf(objectOf(frame) ?? {}));
}

/** Who stands behind whom. Parents precede their children, so there is no circle; whoever names no such parent stands behind the one before. */
function childrenOf(values: readonly JsonObject[]): Map<JsonObject, JsonObject[]> {
  const children = new Map<JsonObject, JsonObject[]>(values.map((value) => [value, []]));
  const byId = new Map<number, JsonObject>();
  values.forEach((value, i) => {
    const mechanism = objectOf(value.mechanism);
    const parentId = positionOf(mechanism?.parent_id);
    const parent = (parentId === null ? undefined : byId.get(parentId)) ?? values[i - 1];
    if (parent !== undefined) children.get(parent)?.push(value);
    const id = positionOf(mechanism?.exception_id);
    if (id !== null && !byId.has(id)) byId.set(id, value);
  });
  return children;
}

function withChain(value: JsonObject, children: ReadonlyMap<JsonObject, readonly JsonObject[]>): ExceptionRecord {
  const chain = chainOf(value, children);
  return chain.length === 0 ? recordOf(value) : { ...recordOf(value), chain };
}

/** One cause after the other in one list; where several stand behind one, each has its own. */
function chainOf(value: JsonObject, children: ReadonlyMap<JsonObject, readonly JsonObject[]>): ExceptionRecord[] {
  const chain: ExceptionRecord[] = [];
  let behind = children.get(value) ?? [];
  while (behind.length === 1) {
    const next = behind[0] as JsonObject;
    const after = children.get(next) ?? [];
    if (after.length > 1) return [...chain, withChain(next, children)];
    chain.push(recordOf(next));
    behind = after;
  }
  return behind.length === 0 ? chain : behind.map((each) => withChain(each, children));
}

function recordOf(value: JsonObject): ExceptionRecord {
  const module = textOf(value.module);
  const mechanism = objectOf(value.mechanism);
  const handled = mechanism?.handled;
  return {
    type: textOf(value.type) ?? 'Error',
    value: textOf(value.value) ?? '',
    ...(module === null ? {} : { module }),
    ...(mechanism === null ? {} : { mechanism }),
    ...(typeof handled === 'boolean' ? { handled } : {}),
    stacktrace: framesOf(value.stacktrace ?? value.raw_stacktrace),
  };
}

function frameOf(frame: JsonObject): StackFrame {
  const module = textOf(frame.module);
  const address = textOf(frame.instruction_addr);
  const file = textOf(frame.filename) ?? textOf(frame.abs_path) ?? textOf(frame.module) ?? textOf(frame.package) ?? '';
  return {
    func: textOf(frame.function) ?? textOf(frame.raw_function) ?? '',
    file,
    line: positionOf(frame.lineno) ?? 0,
    col: positionOf(frame.colno),
    in_app: typeof frame.in_app === 'boolean' ? frame.in_app : isOwnCode(file),
    context_pre: trimContext(linesOf(frame.pre_context), 'pre'),
    context_line: typeof frame.context_line === 'string' ? frame.context_line : null,
    context_post: trimContext(linesOf(frame.post_context), 'post'),
    vars: objectOf(frame.vars),
    ...(module === null ? {} : { module }),
    ...(address === null ? {} : { instruction_addr: address }),
  };
}

function linesOf(value: unknown): string[] | null {
  return Array.isArray(value) ? value.map((line) => (typeof line === 'string' ? line : '')) : null;
}
