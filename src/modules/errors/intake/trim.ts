// The limits of an event (contract §9). A crash report that is too long is cut, never refused: it may be the only one there is.

import { BREADCRUMBS_MAX, CONTEXT_LINES_MAX, FRAMES_MAX, TAGS_MAX } from '../limits.ts';
import type { StackFrame } from './draft.ts';

/** Frames made of what was sent, at most 250: the middle gives way to one frame that says how many were left out. */
export function trimFrames<T>(sent: readonly T[], make: (frame: T) => StackFrame): readonly StackFrame[] {
  if (sent.length <= FRAMES_MAX) return sent.map(make);
  const kept = FRAMES_MAX - 1;
  const head = Math.ceil(kept / 2);
  const left = sent.length - kept;
  const tail = sent.slice(sent.length - (kept - head));
  return [...sent.slice(0, head).map(make), omitted(left), ...tail.map(make)];
}

function omitted(frames: number): StackFrame {
  return {
    func: `(${frames} frames omitted)`,
    file: '',
    line: 0,
    col: null,
    in_app: false,
    context_pre: null,
    context_line: null,
    context_post: null,
    vars: null,
  };
}

/** The lines nearest to the one of the frame: the last of those before it, the first of those behind it. */
export function trimContext(lines: readonly string[] | null, side: 'pre' | 'post'): readonly string[] | null {
  if (lines === null) return null;
  return side === 'pre' ? lines.slice(-CONTEXT_LINES_MAX) : lines.slice(0, CONTEXT_LINES_MAX);
}

/** The latest 100 breadcrumbs. */
export function trimBreadcrumbs<T>(breadcrumbs: readonly T[]): readonly T[] {
  return breadcrumbs.slice(-BREADCRUMBS_MAX);
}

/** The first 100 tags. */
export function trimTags<T>(tags: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const entries = Object.entries(tags);
  return entries.length <= TAGS_MAX ? tags : Object.fromEntries(entries.slice(0, TAGS_MAX));
}
