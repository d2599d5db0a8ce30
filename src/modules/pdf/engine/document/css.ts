// Style sheets for a layout that knows few properties: rules become `style` attributes of elements, in the order of the cascade. Properties that
// are not supported are reported in `ignored`.

/** Those that have a meaning on paper here; anything else is ignored. */
const KNOWN =
  /^(?:color|background(?:-color)?|font-(?:size|weight|style|family)|text-(?:align|decoration|indent)|line-height|margin(?:-(?:top|right|bottom|left))?|border(?:-(?:top|right|bottom|left))?(?:-(?:color|width))?|width|height|white-space|list-style(?:-type)?|visibility|(?:page-)?break-(?:before|after))$/;
/** What makes no difference on paper, or so little that nobody misses it. */
const UNMISSED =
  /^(?:-|box-sizing$|cursor$|transition|animation|outline|user-select$|pointer-events$|scroll|content$|orphans$|widows$|page$|break-inside$|page-break-inside$|border-(?:collapse|spacing)$|vertical-align$|word-|overflow|text-rendering$|print-color-adjust$|color-adjust$|accent-color$|appearance$|hyphens$)/;
const PLAIN_DISPLAYS = ['block', 'inline', 'table', 'table-row', 'table-cell', 'list-item', 'none', 'inline-block'];
const LENGTH = /^(-?\d{0,6}(?:\.\d{1,6})?)(pt|px|r?em|cm|mm|in|%)?$/;
const RULES_MAX = 2_000;
const MATCHES_MAX = 200_000;

export interface StyledDocument<E> {
  querySelectorAll(selector: string): Iterable<E>;
}

interface Rule {
  readonly selector: string;
  readonly body: string;
}

/** Rules of a style sheet, those for print among them; other blocks of `@` are named in `ignored`. Linear in its length. */
function rulesOf(sheet: string, ignored: Set<string>): Rule[] {
  const text = sheet.replaceAll(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, ' ').replaceAll(/<!--|-->/g, ' ');
  const rules: Rule[] = [];
  let at = 0;
  while (at < text.length && rules.length < RULES_MAX) {
    const open = text.indexOf('{', at);
    if (open === -1) break;
    const head = text.slice(at, open).split(';').at(-1)?.trim() ?? '';
    const close = closing(text, open);
    const body = text.slice(open + 1, close);
    if (!head.startsWith('@')) rules.push({ selector: head, body });
    else if (/^@media\b[^{]*\b(?:print|all)\b/i.test(head)) rules.push(...rulesOf(body, ignored));
    else if (!/^@(?:media|font-face|keyframes|-webkit-keyframes|charset|supports)/i.test(head))
      ignored.add(head.split(/[\s{]/)[0] ?? '@');
    at = close + 1;
  }
  return rules;
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === 123) depth += 1;
    else if (character === 125) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return text.length;
}

/** Gives every element the declarations of the rules that match it, before its own. */
export function applySheets<E extends { getAttribute(name: string): string | null }>(
  document: StyledDocument<E>,
  sheets: readonly string[],
  ignored: Set<string>,
): Map<E, string[]> {
  const rules = sheets.flatMap((sheet) => rulesOf(sheet, ignored)).slice(0, RULES_MAX);
  const single = rules.flatMap(({ selector, body }) =>
    selector.split(',').map((each) => ({ selector: each.trim(), body })),
  );
  const ordered = single
    .slice(0, RULES_MAX)
    .map((rule) => ({ ...rule, weight: weightOf(rule.selector) }))
    .sort((a, b) => a.weight - b.weight);
  const found = new Map<E, string[]>();
  let matches = 0;
  for (const { selector, body } of ordered) {
    for (const element of matching(document, selector)) {
      matches += 1;
      if (matches > MATCHES_MAX) return found;
      const own = found.get(element);
      if (own === undefined) found.set(element, [body]);
      else own.push(body);
    }
  }
  return found;
}

/** States of a pointer and parts that are no elements match nothing on paper. */
function matching<E>(document: StyledDocument<E>, selector: string): Iterable<E> {
  if (selector === '' || selector.length > 500 || /::?(?:before|after|hover|focus|active|visited)/.test(selector))
    return [];
  try {
    return document.querySelectorAll(selector === ':root' ? 'html' : selector);
  } catch {
    return [];
  }
}

/** Ids before classes before names; what is written later comes later among equals. */
function weightOf(selector: string): number {
  const count = (pattern: RegExp) => selector.match(pattern)?.length ?? 0;
  return count(/#/g) * 10_000 + count(/[.[]|:(?!:)/g) * 100 + count(/(?:^|[\s>+~])[a-z]/gi);
}

/** Custom properties, wherever they are set: the last one counts. */
export function variablesOf(sheets: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const sheet of sheets)
    for (const [, name = '', value = ''] of sheet.matchAll(/(--[\w-]{1,60})\s*:\s*([^;{}]{1,200})/g))
      found.set(name, value.trim());
  return found;
}

/** The declarations that have a meaning here, as text of a `style` attribute; the names of the others go to `ignored`. */
export function knownStyle(declarations: string, variables: ReadonlyMap<string, string>, ignored: Set<string>): string {
  const kept = new Map<string, string>();
  for (const declaration of declarations.split(';')) {
    const colon = declaration.indexOf(':');
    if (colon === -1) continue;
    const name = declaration.slice(0, colon).trim().toLowerCase();
    const value = resolveVariables(declaration.slice(colon + 1), variables);
    const written = writtenAs(name, value);
    if (written !== null) kept.set(written[0], written[1]);
    else if (isMissed(name, value)) ignored.add(name === 'display' ? value : name);
  }
  return [...kept].map(([name, value]) => `${name}:${value}`).join(';');
}

function resolveVariables(value: string, variables: ReadonlyMap<string, string>): string {
  const plain = value
    .replace(/!\s*important/i, '')
    .trim()
    .slice(0, 500);
  return plain.replaceAll(/var\(\s*(--[\w-]+)\s*(?:,([^()]*))?\)/g, (_, name: string, otherwise?: string) =>
    (variables.get(name) ?? otherwise ?? '').trim(),
  );
}

function isMissed(name: string, value: string): boolean {
  if (!/^[a-z-]{1,40}$/.test(name) || UNMISSED.test(name)) return false;
  return name !== 'display' || !PLAIN_DISPLAYS.includes(value.toLowerCase());
}

/** As the layout reads it. Null: it does not. */
function writtenAs(name: string, value: string): readonly [string, string] | null {
  if (name === 'display') return value.toLowerCase() === 'none' ? ['display', 'none'] : null;
  if (!KNOWN.test(name) || value === '' || /[:;{}]|\w\(/.test(value.replace(/\b(?:rgb|rgba|hsl|hsla)\(/gi, '')))
    return null;
  if (name === 'background' || name === 'background-color')
    return isColor(value) ? ['background-color', spaceCommas(value)] : null;
  if (name === 'color' || name.endsWith('-color')) return isColor(value) ? [name, spaceCommas(value)] : null;
  if (name === 'line-height') return lineHeight(value);
  if (/^(?:font-size|margin-|text-indent|width$|height$)/.test(name)) {
    const length = lengthOf(value, name);
    return length === null ? null : [name, length];
  }
  if (name === 'margin') return margin(value);
  return [name, value];
}

const isColor = (value: string) =>
  /^(?:#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]{3,25}|(?:rgb|hsl)a?\([\d.,%\s]{5,60}\))$/i.test(value);
/** The layout wants one space behind commas. */
const spaceCommas = (value: string) => value.replaceAll(/\s*,\s*/g, ', ');

function lineHeight(value: string): readonly [string, string] | null {
  const [, number, unit] = LENGTH.exec(value) ?? [];
  if (number === undefined || number === '') return null;
  const times = unit === '%' ? Number(number) / 100 : unit === undefined || unit.endsWith('em') ? Number(number) : null;
  return times === null || times <= 0 ? null : ['line-height', String(Math.min(times, 10))];
}

function margin(value: string): readonly [string, string] | null {
  const sides = value.split(/\s+/).map((side) => (side === 'auto' ? '0' : lengthOf(side, 'margin-')));
  return sides.length > 4 || sides.includes(null) ? null : ['margin', sides.join(' ')];
}

/** Millimetres and shares are put into units that the layout knows. */
function lengthOf(value: string, name: string): string | null {
  const [, number, unit] = LENGTH.exec(value) ?? [];
  if (number === undefined || number === '' || number === '-') {
    return name === 'font-size' && /^(?:xx?-)?(?:small|large)$|^medium$/.test(value) ? value : null;
  }
  if (unit === 'mm') return `${Number(number) / 10}cm`;
  if (unit !== '%') return value;
  if (name === 'font-size') return `${Number(number) / 100}em`;
  return name === 'width' ? value : null;
}
