// Whether all that was sent is kept of an event: fields that nobody asked for, and what is beyond the limits, must not be stored.
import type { CaptureInput } from './capture-input.ts';
import { captureSchema, type FrameInput } from './event-input.ts';
import { BREADCRUMBS_MAX, CONTEXT_LINES_MAX, FRAMES_MAX, TAGS_MAX } from './limits.ts';

const eventNames = new Set(Object.keys(captureSchema.properties));
const exceptionNames = new Set(['type', 'value', 'stacktrace']);
const breadcrumbNames = new Set(['at', 'category', 'message', 'level', 'data']);
const frameNames = new Set([
  'func',
  'file',
  'line',
  'col',
  'in_app',
  'context_pre',
  'context_line',
  'context_post',
  'vars',
]);

/** True when no field of a valid input is unknown and nothing of it is cut. */
export function isKeptWhole(input: CaptureInput): boolean {
  const { exception, breadcrumbs, tags } = input;
  return (
    hasOnly(input, eventNames) &&
    (tags == null || Object.keys(tags).length <= TAGS_MAX) &&
    (breadcrumbs == null ||
      (breadcrumbs.length <= BREADCRUMBS_MAX && breadcrumbs.every((each) => hasOnly(each, breadcrumbNames)))) &&
    (exception == null ||
      typeof exception === 'string' ||
      (hasOnly(exception, exceptionNames) && areKeptWhole(exception.stacktrace)))
  );
}

function areKeptWhole(frames: readonly FrameInput[] | string | null | undefined): boolean {
  if (frames == null || typeof frames === 'string') return true;
  return (
    frames.length <= FRAMES_MAX &&
    frames.every(
      (frame) =>
        (frame.context_pre?.length ?? 0) <= CONTEXT_LINES_MAX &&
        (frame.context_post?.length ?? 0) <= CONTEXT_LINES_MAX &&
        hasOnly(frame, frameNames),
    )
  );
}

function hasOnly(members: object, names: ReadonlySet<string>): boolean {
  for (const name in members) if (!names.has(name)) return false;
  return true;
}
