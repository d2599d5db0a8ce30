// Text as outlines of the bundled fonts (Noto Sans: Latin, Greek, Cyrillic, Chinese), independent of the machine's fonts. A character that
// no font has is drawn as an empty box. There is no shaping: glyphs follow one another from left to right.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { create, type Font, type Glyph } from 'fontkit';
import { LRUCache } from 'lru-cache';
import { CHINESE_FONT, notInstalled } from '../lib/not-installed.ts';
import { unpackWoff } from './woff.ts';

const require = createRequire(import.meta.url);
const WEIGHT = 700;
const LATIN = ['latin', 'latin-ext', 'greek', 'greek-ext', 'cyrillic', 'cyrillic-ext', 'vietnamese'];
/** Fonts in memory at once: Chinese is cut into a hundred. */
const FONTS_MAX = 32;
const SVG_COMMANDS = { moveTo: 'M', lineTo: 'L', quadraticCurveTo: 'Q', bezierCurveTo: 'C', closePath: 'Z' } as const;

interface Subset {
  readonly file: string;
  covers(character: number): boolean;
}

const subsets = [
  ...subsetsOf(require.resolve('@fontsource/noto-sans/unicode.json'), 'noto-sans', LATIN),
  ...chineseSubsets(),
];
const hasChinese = subsets.some(({ file }) => file.includes(CHINESE_FONT));
const fonts = new LRUCache<string, Font>({ max: FONTS_MAX });

/** SVG path data of a line whose baseline begins at (0, 0), and how wide it is, pixels. */
export interface Line {
  readonly path: string;
  readonly widthPx: number;
}

interface Letter {
  readonly glyph: Glyph | null;
  readonly font: Font | null;
}

/** Draws a line of text at a size in pixels. */
export function drawLine(text: string, sizePx: number): Line {
  const parts: string[] = [];
  let x = 0;
  for (const character of text) {
    const letter = letterOf(character);
    parts.push(outlineOf(letter, x, sizePx));
    x += advanceOf(letter, sizePx);
  }
  return { path: parts.join(''), widthPx: x };
}

/** The text in lines of at most `widthPx`: broken at spaces, and between Chinese characters; a word that is too long is cut. */
export function breakLines(text: string, sizePx: number, widthPx: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of text.split(/(\s+|(?<=[\u2e80-\u9fff\uf900-\uff60]))/u)) {
    const piece = word.replace(/\s+/g, ' ');
    for (const part of widthOf(piece, sizePx) > widthPx ? [...piece] : [piece]) {
      const width = widthOf(part, sizePx);
      if (used + width > widthPx && line.trim() !== '') {
        lines.push(line.trim());
        line = '';
        used = 0;
      }
      line += part;
      used += width;
    }
  }
  if (line.trim() !== '') lines.push(line.trim());
  return lines;
}

/** As SVG says it, `x` pixels to the right. */
function outlineOf({ glyph, font }: Letter, x: number, sizePx: number): string {
  if (glyph === null || font === null) return boxAt(x, sizePx);
  const scale = sizePx / font.unitsPerEm;
  return glyph.path.commands
    .map(({ command, args }) => {
      const points = args.map((value, i) => (i % 2 === 0 ? x + value * scale : -value * scale));
      return `${SVG_COMMANDS[command]}${points.map((point) => point.toFixed(1)).join(' ')}`;
    })
    .join('');
}

function widthOf(text: string, sizePx: number): number {
  let width = 0;
  for (const character of text) width += advanceOf(letterOf(character), sizePx);
  return width;
}

function advanceOf({ glyph, font }: Letter, sizePx: number): number {
  return glyph === null || font === null ? sizePx * 0.6 : (glyph.advanceWidth * sizePx) / font.unitsPerEm;
}

function boxAt(x: number, sizePx: number): string {
  const [left, right, top] = [x + sizePx * 0.08, x + sizePx * 0.52, -sizePx * 0.7];
  const rim = sizePx * 0.05;
  const square = (l: number, t: number, r: number, b: number, down: boolean) =>
    down ? `M${l} ${t}V${b}H${r}V${t}Z` : `M${l} ${t}H${r}V${b}H${l}Z`;
  return square(left, top, right, 0, false) + square(left + rim, top + rim, right - rim, -rim, true);
}

function letterOf(character: string): Letter {
  const code = character.codePointAt(0) as number;
  for (const subset of subsets) {
    if (!subset.covers(code)) continue;
    const font = fontOf(subset.file);
    const glyph = font.glyphForCodePoint(code);
    if (glyph.id !== 0) return { glyph, font };
  }
  if (!hasChinese && /\p{Script=Han}/u.test(character)) throw notInstalled(CHINESE_FONT);
  return { glyph: null, font: null };
}

function fontOf(file: string): Font {
  const known = fonts.get(file);
  if (known !== undefined) return known;
  const font = create(unpackWoff(readFileSync(file)));
  fonts.set(file, font);
  return font;
}

/** None where the optional package is not installed: Chinese is then refused, not drawn as boxes (letterOf). */
function chineseSubsets(): Subset[] {
  try {
    return subsetsOf(require.resolve(`${CHINESE_FONT}/unicode.json`), 'noto-sans-sc', null);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    return [];
  }
}

/** The files that hold one weight of a font, by the list of which characters each has; `names`: of the subsets, null for all. */
function subsetsOf(list: string, family: string, names: readonly string[] | null): Subset[] {
  const folder = dirname(list);
  const ranges = JSON.parse(readFileSync(list, 'utf8')) as Record<string, string>;
  return Object.entries(ranges)
    .map(([key, range]) => [key.replaceAll(/[[\]]/g, ''), range] as const)
    .filter(([key]) => names === null || names.includes(key))
    .map(([key, range]) => ({
      file: join(folder, 'files', `${family}-${key}-${WEIGHT}-normal.woff`),
      covers: coverOf(range),
    }));
}

function coverOf(range: string): (code: number) => boolean {
  const spans = range.split(',').map((part) => {
    const [from = '', to = from] = part.replace('U+', '').split('-');
    return [Number.parseInt(from, 16), Number.parseInt(to, 16)] as const;
  });
  return (code) => spans.some(([from, to]) => code >= from && code <= to);
}
