// Exceptions with their frames: your own code open, everything else one line that opens.
import type { DataOf } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { get } from '../capabilities/get.ts';
import { jsonBlock, shorten } from './json-block.ts';

export type Exception = NonNullable<DataOf<typeof get>['exception']>;

type StackFrame = Exception['stacktrace'][number];

const VALUE_CHARACTERS_MAX = 10_000;
const LINE_CHARACTERS_MAX = 500;
const NAME_CHARACTERS_MAX = 300;

/** The exception and those behind it, nearest first, each followed by its own. */
export function exceptions(exception: Exception): Html[] {
  return withCauses(exception).map(
    ({ type, value, stacktrace, ...origin }, i) => html`<section class="exception">
<h3 dir="auto">${i === 0 ? '' : html`<span class="quiet">Caused by </span>`}${shorten(type, NAME_CHARACTERS_MAX)}</h3>
${value === '' ? '' : html`<p class="value" dir="auto">${shorten(value, VALUE_CHARACTERS_MAX)}</p>`}
${originOf(origin)}
${stacktrace.length === 0 ? html`<p class="quiet">No stack trace was sent.</p>` : html`<ol class="frames" aria-label="Stack trace, innermost frame first">${stacktrace.map(frame)}</ol>`}
</section>`,
  );
}

/** Where its class is from, and how it was caught. */
function originOf({ module, mechanism, handled }: Pick<Exception, 'module' | 'mechanism' | 'handled'>): Html {
  const { type } = mechanism ?? {};
  const parts = [
    ...(module === undefined ? [] : [html`<bdi>${shorten(module, NAME_CHARACTERS_MAX)}</bdi>`]),
    ...(typeof type === 'string' && type !== ''
      ? [html`caught by <bdi>${shorten(type, NAME_CHARACTERS_MAX)}</bdi>`]
      : []),
    ...(handled === undefined ? [] : [html`${handled ? 'handled' : 'not handled'}`]),
  ];
  const line = parts.map((part, i) => html`${i === 0 ? '' : ' · '}${part}`);
  const shown = parts.length === 0 ? html`` : html`<p class="quiet">${line}</p>`;
  if (mechanism === undefined || Object.keys(mechanism).length === 0) return shown;
  return html`${shown}<details class="vars"><summary>Mechanism</summary>${jsonBlock(mechanism, 'Mechanism')}</details>`;
}

function withCauses(exception: Exception): Exception[] {
  return [exception, ...(exception.chain ?? []).flatMap(withCauses)];
}

/** A stack that was sent as one text. */
export function plainStack(text: string): Html {
  return html`<pre class="scroll" tabindex="0" role="region" aria-label="Stack trace as sent">\n${shorten(text, VALUE_CHARACTERS_MAX)}</pre>`;
}

function frame(at: StackFrame): Html {
  const name = html`<span class="func">${shorten(at.func, NAME_CHARACTERS_MAX)}</span> <span class="quiet">${place(at)}</span>${at.in_app ? html` <span class="tag">app</span>` : ''}`;
  const hasVars = at.vars !== null && Object.keys(at.vars).length > 0;
  if (at.context_line === null && !hasVars) return html`<li><div class="frame">${name}</div></li>\n`;
  const vars = html`<details class="vars"><summary>Local variables</summary>${jsonBlock(at.vars, `Local variables of ${at.func}`)}</details>`;
  return html`<li><details class="frame"${at.in_app ? html` open` : ''}><summary>${name}</summary>${source(at)}${hasVars ? vars : ''}</details></li>\n`;
}

/** A frame of native code is told by its address, one of a virtual machine by its module. */
function place({ file, line, col, module, instruction_addr: address }: StackFrame): string {
  const at =
    file === ''
      ? ''
      : `${shorten(file, NAME_CHARACTERS_MAX)}${line === 0 ? '' : `:${line}`}${col === null ? '' : `:${col}`}`;
  const where = module === undefined || module === file ? '' : `in ${shorten(module, NAME_CHARACTERS_MAX)}`;
  return [at, where, address === undefined ? '' : `at ${shorten(address, NAME_CHARACTERS_MAX)}`]
    .filter(Boolean)
    .join(' ');
}

function source(at: StackFrame): Html {
  if (at.context_line === null) return html``;
  const before = at.context_pre ?? [];
  const first = at.line - before.length;
  const lines = [...before, at.context_line, ...(at.context_post ?? [])];
  const rows = lines.map((text, i) => {
    const number = first + i > 0 ? String(first + i) : '';
    const code = html`<span class="number">${number}</span>${shorten(text, LINE_CHARACTERS_MAX)}\n`;
    return i === before.length ? html`<mark>${code}</mark>` : html`<span class="line">${code}</span>`;
  });
  return html`<pre class="source scroll" tabindex="0" role="region" aria-label="Source around line ${at.line}"><code>${rows}</code></pre>`;
}
