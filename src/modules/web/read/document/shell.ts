// Whether scripts draw a page: its own text is empty beside them. test/web/shells.test.ts has the figures of 30 pages that sites send whole, and
// of 10 single-page applications.
import { measuresOf } from './measure.ts';
import type { Element } from './tree.ts';

/** So much text is a notice or a spinner, and no page. */
const NOTICE_TEXT_MAX = 60;
/** So much may stand around the empty place where an application mounts: a header, a footer, a notice of cookies. */
const AROUND_MOUNT_TEXT_MAX = 600;
/** Around an empty custom element, which may also be a widget of a page that is whole. */
const AROUND_CUSTOM_TEXT_MAX = 200;
/** What stands for readers without scripts is a page of its own from here on. */
const NOSCRIPT_TEXT_MIN = 200;
/** Ids of elements in which frameworks draw. */
const MOUNTS = /^(?:(?:app-|react-)?root|app|main|application|mount|container|__next|__nuxt|___gatsby|svelte|q-app)$/i;

export interface ShellFigures {
  /** Characters beside `<noscript>`; one of Chinese, Japanese or Korean counts as three. */
  readonly text: number;
  readonly noscript: number;
  /** Scripts that run. */
  readonly scripts: number;
  /** An element in which frameworks draw, with no more text than a notice. */
  readonly emptyMount: 'id' | 'custom' | null;
}

/** Of a page as it was sent: `<noscript>` and all. */
export function shellFigures({ body, scripts }: { readonly body: Element; readonly scripts: number }): ShellFigures {
  const measures = measuresOf(body);
  let noscript = 0;
  let emptyMount: ShellFigures['emptyMount'] = null;
  for (const [element, { text }] of measures) {
    if (element.localName === 'noscript') noscript += text;
    else if (text <= NOTICE_TEXT_MAX && emptyMount !== 'id') emptyMount = mountOf(element) ?? emptyMount;
  }
  return { text: (measures.get(body)?.text ?? 0) - noscript, noscript, scripts, emptyMount };
}

export function isShell({ text, noscript, scripts, emptyMount }: ShellFigures): boolean {
  if (scripts === 0 || noscript >= NOSCRIPT_TEXT_MIN) return false;
  if (emptyMount === 'id') return text <= AROUND_MOUNT_TEXT_MAX;
  return text <= (emptyMount === null ? NOTICE_TEXT_MAX : AROUND_CUSTOM_TEXT_MAX);
}

function mountOf(element: Element): ShellFigures['emptyMount'] {
  if (MOUNTS.test(element.getAttribute('id') ?? '')) return 'id';
  return element.localName.includes('-') ? 'custom' : null;
}
