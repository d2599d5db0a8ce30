// Fonts of the document engine: Roboto, and those of the operator's folder (`Family-Regular.ttf`, `-Bold`, `-Italic`, `-BoldItalic`). A run of
// text with characters that a font lacks is set in the first font that has them.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fontkit from 'fontkit';

export interface Fonts {
  /** As the layout wants them: names of files by style. */
  readonly descriptors: Readonly<Record<string, Readonly<Record<Style, string>>>>;
  readonly files: ReadonlyMap<string, Buffer>;
  /** The family as it is written in a style sheet; null: there is none. */
  familyOf(name: string): string | null;
  /** Pieces of the text with the font of each; null: the wanted one. `missing` gets characters that no font has. */
  runsOf(text: string, family: string, missing: Set<string>): readonly (readonly [string, string])[];
}

type Style = 'normal' | 'bold' | 'italics' | 'bolditalics';

export const USUAL_FONT = 'Roboto';
const ROBOTO = join(dirname(fileURLToPath(import.meta.resolve('pdfmake/package.json'))), 'fonts/Roboto');
const FONT_FILE = /^(.+?)(?:-(regular|bold|italic|bolditalic|medium|mediumitalic))?\.(?:ttf|otf)$/i;
const styles: Readonly<Record<string, Style>> = {
  regular: 'normal',
  bold: 'bold',
  medium: 'bold',
  italic: 'italics',
  bolditalic: 'bolditalics',
  mediumitalic: 'bolditalics',
};
const FONT_FILES_MAX = 100;

const opened = new Map<string, Fonts>();

/** Read once in a thread. */
export function fontsOf(folder: string | null): Fonts {
  const known = opened.get(folder ?? '');
  if (known !== undefined) return known;
  const fonts = openFonts([ROBOTO, ...(folder === null ? [] : [folder])]);
  opened.set(folder ?? '', fonts);
  return fonts;
}

function openFonts(folders: readonly string[]): Fonts {
  const files = new Map<string, Buffer>();
  const families = new Map<string, Partial<Record<Style, string>>>();
  for (const folder of folders)
    for (const name of readdirSync(folder).sort().slice(0, FONT_FILES_MAX)) {
      const [, family, style = 'regular'] = FONT_FILE.exec(name) ?? [];
      if (family === undefined) continue;
      const own = families.get(family) ?? {};
      own[styles[style.toLowerCase()] as Style] ??= name;
      families.set(family, own);
      files.set(name, readFileSync(join(folder, name)));
    }
  const glyphs = new Map<string, (codePoint: number) => boolean>();
  const descriptors: Record<string, Record<Style, string>> = {};
  for (const [family, own] of families) {
    const normal = own.normal ?? Object.values(own)[0] ?? '';
    const { bold = normal, italics = normal } = own;
    descriptors[family] = { normal, bold, italics, bolditalics: own.bolditalics ?? bold };
    const font = fontkit.create(files.get(normal) as Buffer);
    glyphs.set(family, (codePoint) => font.hasGlyphForCodePoint(codePoint));
  }
  const byName = new Map([...families.keys()].map((family) => [simple(family), family]));
  return {
    descriptors,
    files,
    familyOf: (name) => byName.get(simple(name)) ?? null,
    runsOf: (text, family, missing) => runsOf(text, family, glyphs, missing),
  };
}

const simple = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
/** Controls and marks that only join or direct have no glyph to miss. */
const INVISIBLE = /\p{Cc}|\p{Cf}|\p{Variation_Selector}/u;

function runsOf(
  text: string,
  family: string,
  glyphs: ReadonlyMap<string, (codePoint: number) => boolean>,
  missing: Set<string>,
): (readonly [string, string])[] {
  // Most texts are of one alphabet.
  if (/^[\x20-\x7e\n\r\t]*$/.test(text)) return [[text, family]];
  const runs: [string, string][] = [];
  for (const character of text) {
    const codePoint = character.codePointAt(0) as number;
    const last = runs.at(-1);
    const has = (name: string) => glyphs.get(name)?.(codePoint) === true;
    let font: string | undefined = family;
    if (!INVISIBLE.test(character) && !has(family)) {
      font = [...glyphs.keys()].find(has);
      if (font === undefined) missing.add(character);
    } else if (INVISIBLE.test(character) && last !== undefined) font = last[1];
    const set = font ?? family;
    if (last?.[1] === set) last[0] += character;
    else runs.push([character, set]);
  }
  return runs;
}
