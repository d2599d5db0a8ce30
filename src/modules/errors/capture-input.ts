// The input of errors.capture as a draft (specification, "Error event"; contract §9).
import type { Static } from 'typebox';
import { cleanJson, firstCharacters } from './clean-text.ts';
import type { Breadcrumb, EventDraft, ExceptionRecord, JsonObject, StackFrame } from './draft.ts';
import type { captureSchema, FrameInput } from './event-input.ts';
import { groupingOf } from './fingerprint.ts';
import { BREADCRUMBS_MAX, FRAMES_MAX, SENT_TITLE_CHARACTERS_MAX, TAGS_MAX, TITLE_CHARACTERS } from './limits.ts';
import { hidingMembers } from './scrub/scanner/scanner.ts';
import { isKeptWhole } from './sent-whole.ts';
import { trimBreadcrumbs, trimContext, trimFrames, trimTags } from './trim.ts';

export type CaptureInput = Static<typeof captureSchema>;

const UNTITLED = 'Error';

/**
 * The draft of a valid input. `warnings` gets a sentence for everything that is cut. `source` is its JSON: without an escape it
 * holds neither NUL nor a lone surrogate, and nothing need be cleaned.
 */
export function draftOf(input: CaptureInput, warnings: string[], source: string): EventDraft {
  const thrown = typeof input.exception === 'string' ? null : (input.exception ?? null);
  const thrownText = typeof input.exception === 'string' ? input.exception : null;
  const message = input.message || (thrownText ?? input.message ?? null);
  const grouping = groupingOf({
    fingerprint: input.fingerprint ?? null,
    message,
    exceptionType: thrown?.type ?? null,
    exceptionValue: thrown?.value ?? null,
    title: input.title ?? null,
    code: input.code ?? null,
  });
  warn(input, warnings);
  const draft = {
    level: input.level ?? 'error',
    title: titleOf(input, message),
    message,
    environment: input.environment ?? null,
    release: input.release ?? null,
    user_id: input.user_id ?? null,
    tags: trimTags(input.tags ?? {}),
    occurredAtMs: null,
    exception: exceptionOf(input),
    breadcrumbs: trimBreadcrumbs(input.breadcrumbs ?? []).map(breadcrumbOf),
    context: { ...input.context, ...(input.service == null ? {} : { service: input.service }) },
    extra: extraOf(input),
    sdk: input.sdk ?? null,
    runtime: input.runtime ?? null,
    request: input.request ?? null,
    user: input.user ?? null,
  };
  return { grouping, ...(source.includes('\\u') ? cleanJson(draft) : draft) };
}

/** What the long members of a draft are made of; only title, message, tags and the like are made of several or cut within a text. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  exception: ['exception'],
  breadcrumbs: ['breadcrumbs'],
  context: ['context', 'service'],
  extra: ['extra', 'code', 'stack', 'exception'],
  sdk: ['sdk'],
  runtime: ['runtime'],
  request: ['request'],
  user: ['user'],
};

/** What the JSON of an event says of the draft made of it. */
export interface SourceFindings {
  /** Members of the draft that hold nothing to be scrubbed. */
  readonly clean: ReadonlySet<string>;
  /** The JSON itself when it can be stored as it is: nothing in it is to be scrubbed, cleaned or left out, and it is one line. */
  readonly storable: string | null;
}

/** `source`: the JSON of the valid `input`. */
export function inspectSource(source: string, input: CaptureInput): SourceFindings {
  const hiding = hidingMembers(source);
  if (hiding === null) return { clean: NONE, storable: null };
  if (hiding.size === 0) {
    const isStorable = !/\\u|\n/.test(source) && isKeptWhole(input);
    return { clean: LONG_MEMBERS, storable: isStorable ? source : null };
  }
  const clean = Object.keys(SOURCES).filter((name) => !SOURCES[name]?.some((source) => hiding.has(source)));
  return { clean: new Set(clean), storable: null };
}

const NONE: ReadonlySet<string> = new Set();
const LONG_MEMBERS: ReadonlySet<string> = new Set(Object.keys(SOURCES));

function titleOf(input: CaptureInput, message: string | null): string {
  if (input.title) return firstCharacters(input.title, SENT_TITLE_CHARACTERS_MAX);
  const { exception } = input;
  const thrown =
    exception === null || typeof exception !== 'object' ? [] : [exception.type, exception.value].filter(Boolean);
  return firstCharacters(message || thrown.join(': ') || input.code || UNTITLED, TITLE_CHARACTERS);
}

function exceptionOf({ exception }: CaptureInput): ExceptionRecord | null {
  if (exception === null || exception === undefined) return null;
  if (typeof exception === 'string') return { type: 'Message', value: exception, stacktrace: [] };
  const frames = Array.isArray(exception.stacktrace) ? exception.stacktrace : [];
  return {
    type: exception.type ?? 'Error',
    value: exception.value ?? '',
    stacktrace: trimFrames(frames, frameOf),
  };
}

function frameOf(frame: FrameInput): StackFrame {
  return {
    func: frame.func ?? '',
    file: frame.file ?? '',
    line: frame.line ?? 0,
    col: frame.col ?? null,
    in_app: frame.in_app ?? true,
    context_pre: trimContext(frame.context_pre ?? null, 'pre'),
    context_line: frame.context_line ?? null,
    context_post: trimContext(frame.context_post ?? null, 'post'),
    vars: frame.vars ?? null,
  };
}

function breadcrumbOf(sent: NonNullable<CaptureInput['breadcrumbs']>[number]): Breadcrumb {
  return {
    at: sent.at ?? null,
    category: sent.category ?? '',
    message: sent.message ?? '',
    level: sent.level ?? null,
    data: sent.data ?? null,
  };
}

/** A stack that came as text is kept where it can be read; no frames are made of it. */
function extraOf({ extra, code, stack, exception }: CaptureInput): JsonObject {
  const trace = exception !== null && typeof exception === 'object' ? exception.stacktrace : null;
  return {
    ...extra,
    ...(typeof trace === 'string' ? { stack: trace } : {}),
    ...(stack == null ? {} : { stack }),
    ...(code == null ? {} : { code }),
  };
}

function warn({ tags, breadcrumbs, exception }: CaptureInput, warnings: string[]): void {
  const trace = exception !== null && typeof exception === 'object' ? exception.stacktrace : null;
  if (Object.keys(tags ?? {}).length > TAGS_MAX) warnings.push(`tags: only the first ${TAGS_MAX} are kept`);
  if ((breadcrumbs?.length ?? 0) > BREADCRUMBS_MAX)
    warnings.push(`breadcrumbs: only the latest ${BREADCRUMBS_MAX} are kept`);
  if (Array.isArray(trace) && trace.length > FRAMES_MAX)
    warnings.push(`exception.stacktrace: the middle is left out, ${FRAMES_MAX} entries are kept`);
}
