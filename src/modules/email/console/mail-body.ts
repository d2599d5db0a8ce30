// The body of a mail as a page shows it: HTML of strangers in a frame of its own, text, source. In the frame nothing runs, nothing is loaded
// from elsewhere, and no link leads out: the sandbox is empty, and its policy allows styles and pictures that the mail itself brings.

import { tabs, withQuery } from '../../../kit/console/table.ts';
import { ownPath, payload, sizeText } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';

export interface Body {
  readonly text: string | null;
  readonly html: string | null;
  /** The call that answers all of it. */
  readonly call: string;
}

const FRAME_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";
/** Longer HTML would make the page too heavy. */
const FRAME_CHARACTERS_MAX = 256 * 1024;

/** What the address asks for; what the mail does not have is not asked for. */
export function viewOf({ query }: Visit, { html: markup }: Pick<Body, 'html'>): 'html' | 'text' | 'source' {
  const asked = query.get('view');
  if (asked === 'source') return asked;
  return asked === 'text' || markup === null ? 'text' : 'html';
}

/** `source`: shown where the address asks for it. */
export function bodyPanel(visit: Visit, body: Body, source: Html): Html {
  const view = viewOf(visit, body);
  const entry = (text: string, of: typeof view) => ({
    text,
    href: withQuery(visit, { view: of }),
    isHere: of === view,
  });
  const entries = [
    ...(body.html === null ? [] : [entry('HTML', 'html')]),
    entry('Text', 'text'),
    entry('Source', 'source'),
  ];
  return html`<section class="panel"><h2>Content</h2>${tabs('Views of the content', entries)}${view === 'source' ? source : shownBody(body, view)}</section>`;
}

function shownBody({ text, html: markup, call }: Body, view: 'html' | 'text'): Html {
  if (view === 'html' && markup !== null) return frame(markup, call);
  return text === null ? html`<p class="quiet">It has no plain text.</p>` : payload(text, 'Text', { call });
}

interface Source {
  readonly content: string | null;
  readonly url: string | null;
  readonly bytes: number;
}

export function sourceView({ content, url, bytes }: Source, call: string): Html {
  if (content !== null) return payload(content, 'Source', { call });
  if (url === null) return html`<p class="quiet">Not kept any more.</p>`;
  return html`<p><a class="button" href="${ownPath(url)}">Download the source</a> <span class="quiet">${sizeText(bytes)}; the link works for an hour.</span></p>`;
}

function frame(markup: string, call: string): Html {
  if (markup.length > FRAME_CHARACTERS_MAX) {
    return html`<p class="quiet">The HTML is too long to be shown: ${sizeText(markup.length)}. <code>${call}</code> has all of it.</p>`;
  }
  const document = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${FRAME_POLICY}">${markup}`;
  return html`<iframe class="mail" sandbox referrerpolicy="no-referrer" title="The email" srcdoc="${document}"></iframe>
<p class="quiet">Scripts, links and pictures from elsewhere are off.</p>`;
}
