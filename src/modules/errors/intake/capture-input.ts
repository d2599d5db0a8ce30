// The input of errors.capture as a draft (specification, "Error event"; contract of errors).

import type { Static } from 'typebox';
import { cleanJson, firstCharacters } from '../../../lib/clean-text.ts';
import { iso } from '../../../lib/time.ts';
import {
  BREADCRUMBS_MAX,
  FRAMES_MAX,
  NO_EXCEPTION_TYPE,
  SENT_TITLE_CHARACTERS_MAX,
  TAGS_MAX,
  TITLE_CHARACTERS,
} from '../limits.ts';
import {
  type Breadcrumb,
  type DetailParts,
  type EventDraft,
  type ExceptionRecord,
  type JsonObject,
  type StackFrame,
  trimBreadcrumbs,
  trimContext,
  trimFrames,
  trimTags,
} from './draft.ts';
import type { captureSchema, ExceptionInput, FrameInput } from './event-input.ts';
import { groupingOf } from './fingerprint.ts';
import { instantOf, NumberSource } from './lenient.ts';
import { isOwnCode } from './own-code.ts';
import { identityOf } from './user-identity.ts';

export type CaptureInput = Static<typeof captureSchema>;

const UNTITLED = 'Error';

/**
 * The draft of a valid input. `warnings` gets a sentence for everything that is cut. `source` is its JSON: without an escape it
 * holds neither NUL nor a lone surrogate, and nothing need be cleaned.
 */
export function draftOf(input: CaptureInput, warnings: string[], source: string): EventDraft {
  const thrown = thrownOf(input);
  const message = input.message || (typeof input.exception === 'string' ? input.exception : (input.message ?? null));
  const grouping = groupingOf({
    fingerprint: input.fingerprint ?? null,
    message,
    exceptionType: thrown?.type ?? null,
    exceptionValue: thrown === null ? null : exceptionMessage(thrown),
    title: input.title ?? null,
    code: input.code ?? null,
  });
  warn(input, warnings);
  const draft = {
    level: input.level ?? 'error',
    title: titleOf(input, message),
    message,
    environment: input.environment ?? null,
    ...labelsOf(input, new NumberSource(source)),
    occurredAtMs: null,
    ...detailPartsOf(input),
  };
  return { grouping, ...(source.includes('\\u') ? cleanJson(draft) : draft) };
}

/** What of a valid input only the full record shows. */
function detailPartsOf(input: CaptureInput): DetailParts {
  return {
    exception: exceptionOf(input),
    breadcrumbs: trimBreadcrumbs(input.breadcrumbs ?? []).map(breadcrumbOf),
    context: { ...input.context, ...(input.service == null ? {} : { service: input.service }) },
    extra: extraOf(input),
    sdk: input.sdk ?? null,
    runtime: input.runtime ?? null,
    request: input.request ?? null,
    user: input.user ?? null,
  };
}

/** What events are counted by. */
function labelsOf(input: CaptureInput, numbers: NumberSource) {
  const { user_id: userId, release } = input;
  const identity = userId == null ? identityOf(input.user ?? null, ['id'], numbers) : null;
  return {
    release: release == null ? null : numbers.text(release, 'release'),
    user_id: userId == null ? (identity?.userId ?? null) : numbers.text(userId, 'user_id'),
    contact: identity?.contact ?? null,
    tags: tagsOf(input.tags ?? {}, numbers),
  };
}

function tagsOf(sent: NonNullable<CaptureInput['tags']>, numbers: NumberSource): Readonly<Record<string, string>> {
  const tags = trimTags(sent);
  if (areTexts(tags)) return tags;
  const entries = Object.entries(tags).flatMap(([name, value]): [string, string][] =>
    value === null ? [] : [[name, numbers.text(value, name, 'tags')]],
  );
  return Object.fromEntries(entries);
}

const areTexts = (tags: Readonly<Record<string, unknown>>): tags is Readonly<Record<string, string>> =>
  Object.values(tags).every((value) => typeof value === 'string');

function thrownOf({ exception }: CaptureInput): ExceptionInput | null {
  return typeof exception === 'string' ? null : (exception ?? null);
}

const exceptionMessage = ({ value, message }: ExceptionInput) => value || message || value || null;

function titleOf(input: CaptureInput, message: string | null): string {
  if (input.title) return firstCharacters(input.title, SENT_TITLE_CHARACTERS_MAX);
  const thrown = thrownOf(input);
  const text = thrown === null ? '' : [thrown.type, exceptionMessage(thrown)].filter(Boolean).join(': ');
  return firstCharacters(message || text || input.code || UNTITLED, TITLE_CHARACTERS);
}

function exceptionOf({ exception }: CaptureInput): ExceptionRecord | null {
  if (exception === null || exception === undefined) return null;
  if (typeof exception === 'string') return { type: NO_EXCEPTION_TYPE, value: exception, stacktrace: [] };
  const { module, mechanism } = exception;
  const handled = exception.handled ?? mechanism?.handled;
  return {
    type: exception.type ?? 'Error',
    value: exceptionMessage(exception) ?? '',
    ...(module == null ? {} : { module }),
    ...(mechanism == null ? {} : { mechanism }),
    ...(typeof handled === 'boolean' ? { handled } : {}),
    stacktrace: trimFrames(framesOf(exception), frameOf),
  };
}

/** `stack` is another name of `stacktrace`: the one that has frames gives them. */
function framesOf({ stacktrace, stack }: ExceptionInput): readonly FrameInput[] {
  const hasFrames = (trace: ExceptionInput['stack']): trace is readonly FrameInput[] =>
    typeof trace === 'object' && trace !== null && trace.length > 0;
  return [stacktrace, stack].find(hasFrames) ?? [];
}

function frameOf(frame: FrameInput): StackFrame {
  const { module } = frame;
  const file = frame.file ?? frame.filename ?? '';
  const made = {
    func: frame.func ?? frame.function ?? '',
    file,
    line: frame.line ?? frame.lineno ?? 0,
    col: frame.col ?? frame.colno ?? null,
    in_app: frame.in_app ?? isOwnCode(file),
    context_pre: trimContext(frame.context_pre ?? null, 'pre'),
    context_line: frame.context_line ?? null,
    context_post: trimContext(frame.context_post ?? null, 'post'),
    vars: frame.vars ?? null,
  };
  return module == null ? made : { ...made, module };
}

function breadcrumbOf(sent: NonNullable<CaptureInput['breadcrumbs']>[number]): Breadcrumb {
  return {
    at: sent.at ?? instantText(sent.timestamp),
    category: sent.category ?? '',
    message: sent.message ?? '',
    level: sent.level ?? null,
    data: sent.data ?? null,
  };
}

/** SDKs write seconds since the epoch; what is no instant counts as not sent. */
function instantText(sent: string | number | null | undefined): string | null {
  const ms = typeof sent === 'number' ? instantOf(sent) : null;
  return typeof sent === 'string' ? sent : ms === null ? null : iso(ms);
}

/** A stack that came as text is kept where it can be read; no frames are made of it. */
function extraOf(input: CaptureInput): JsonObject {
  const { extra, code, stack } = input;
  const thrown = thrownOf(input);
  const text = [thrown?.stacktrace, thrown?.stack].find((trace) => typeof trace === 'string');
  return {
    ...extra,
    ...(text === undefined ? {} : { stack: text }),
    ...(stack == null ? {} : { stack }),
    ...(code == null ? {} : { code }),
  };
}

function warn(input: CaptureInput, warnings: string[]): void {
  const thrown = thrownOf(input);
  if (Object.keys(input.tags ?? {}).length > TAGS_MAX) warnings.push(`tags: only the first ${TAGS_MAX} are kept`);
  if ((input.breadcrumbs?.length ?? 0) > BREADCRUMBS_MAX)
    warnings.push(`breadcrumbs: only the latest ${BREADCRUMBS_MAX} are kept`);
  if (thrown !== null && framesOf(thrown).length > FRAMES_MAX)
    warnings.push(`exception.stacktrace: the middle is left out, ${FRAMES_MAX} entries are kept`);
}
