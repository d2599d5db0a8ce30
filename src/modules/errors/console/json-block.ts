// Texts and JSON of strangers, of any size and depth, as text of a bounded size: an event may be a megabyte, and indentation grows with the square
// of the depth.

import { count } from '../../../kit/console/text.ts';
import { type Html, html } from '../../../lib/html.ts';

const CHARACTERS_MAX = 20_000;
const DEPTH_MAX = 12;

/** The value indented, in a block of its own. */
export function jsonBlock(value: unknown, label: string): Html {
  // An HTML parser drops a line feed right behind the tag.
  return html`<pre class="scroll" tabindex="0" role="region" aria-label="${label}">\n${indentJson(value)}</pre>`;
}

/** JSON by two spaces; what is too deep or too long ends in an ellipsis. */
export function indentJson(value: unknown): string {
  const out: Out = { parts: [], left: CHARACTERS_MAX };
  write(out, value, 0);
  return out.left > 0 ? out.parts.join('') : `${out.parts.join('')}\n… and more: the event as a file has all of it`;
}

interface Out {
  readonly parts: string[];
  left: number;
}

function append(out: Out, text: string): void {
  if (out.left <= 0) return;
  out.parts.push(text);
  out.left -= text.length;
}

function write(out: Out, value: unknown, depth: number): void {
  if (value === null || typeof value !== 'object') {
    append(out, scalar(value));
    return;
  }
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) append(out, open + close);
  else if (depth === DEPTH_MAX) append(out, `${open} … ${close}`);
  else {
    append(out, open);
    for (const [i, [name, item]] of entries.entries()) {
      if (out.left <= 0) return;
      append(out, `${i === 0 ? '' : ','}\n${'  '.repeat(depth + 1)}`);
      if (!Array.isArray(value)) append(out, `${scalar(name)}: `);
      write(out, item, depth + 1);
    }
    append(out, `\n${'  '.repeat(depth)}${close}`);
  }
}

function scalar(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(shorten(value, CHARACTERS_MAX)) : String(value);
}

/** The first `charactersMax` UTF-16 units, and how many are left out. A surrogate pair is not cut in two. */
export function shorten(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const high = text.charCodeAt(charactersMax - 1);
  const end = high >= 0xd800 && high < 0xdc00 ? charactersMax - 1 : charactersMax;
  return `${text.slice(0, end)} … (${count(text.length - end)} more characters)`;
}
