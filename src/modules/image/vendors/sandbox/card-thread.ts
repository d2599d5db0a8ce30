// The thread that draws one sandbox card: the prompt's words over colours of its seed, or over the image that was sent. A mark names the sandbox
// as its origin. The same request gives the same bytes.
import sharp from 'sharp';
import { serve } from '../../../../lib/threads.ts';
import { breakLines, drawLine } from '../../../../pictures/lettering.ts';

export interface CardTask {
  readonly text: string;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly seed: number;
  /** PNG that our own process has written; null: none was sent. */
  readonly image: Uint8Array | null;
  /** Where the PNG is written. */
  readonly path: string;
}

const LINES_MAX = 6;
const TEXT_CHARACTERS_MAX = 400;
const SMALLEST_PX = 8;

sharp.concurrency(1);
sharp.cache(false);

serve(draw);

async function draw({ text, widthPx, heightPx, seed, image, path }: CardTask): Promise<undefined> {
  const over = Buffer.from(svg(widthPx, heightPx, `${words(text, widthPx, heightPx)}${stamp(widthPx, heightPx)}`));
  const under =
    image === null
      ? sharp(Buffer.from(background(widthPx, heightPx, seed)))
      : sharp(image).resize(widthPx, heightPx, { fit: 'cover' });
  await under
    .composite([{ input: over }])
    .removeAlpha()
    .png({ compressionLevel: 6 })
    .toFile(path);
  return undefined;
}

function background(widthPx: number, heightPx: number, seed: number): string {
  const hue = seed % 360;
  const stop = (offset: number, turn: number, light: number) =>
    `<stop offset="${offset}" stop-color="hsl(${(hue + turn) % 360},55%,${light}%)"/>`;
  const fill = `<linearGradient id="g" x2="1" y2="1">${stop(0, 0, 22)}${stop(1, 50, 38)}</linearGradient>`;
  const side = Math.min(widthPx, heightPx);
  const [x, y] = [((seed >>> 9) % 100) / 100, ((seed >>> 16) % 100) / 100];
  const disc = `<circle cx="${x * widthPx}" cy="${y * heightPx}" r="${side / 5}" fill="hsl(${(hue + 180) % 360},60%,60%)" fill-opacity="0.6"/>`;
  return svg(widthPx, heightPx, `<defs>${fill}</defs><rect width="100%" height="100%" fill="url(#g)"/>${disc}`);
}

/** In as few and as large lines as fit. */
function words(text: string, widthPx: number, heightPx: number): string {
  const characters = [...text];
  const said = characters.length > TEXT_CHARACTERS_MAX ? `${characters.slice(0, TEXT_CHARACTERS_MAX).join('')}…` : text;
  let sizePx = Math.round(Math.min(widthPx, heightPx) / 9);
  let lines = breakLines(said, sizePx, widthPx * 0.8);
  while (lines.length > LINES_MAX && sizePx > SMALLEST_PX) {
    sizePx = Math.round(sizePx * 0.85);
    lines = breakLines(said, sizePx, widthPx * 0.8);
  }
  const lead = sizePx * 1.35;
  const top = (heightPx - lines.length * lead) / 2 + sizePx;
  return lines
    .map((line) => drawLine(line, sizePx))
    .map(({ path, widthPx: long }, i) => {
      const at = `translate(${((widthPx - long) / 2).toFixed(1)} ${(top + i * lead).toFixed(1)})`;
      return `<path transform="${at}" d="${path}" fill="#fff" stroke="#000" stroke-opacity="0.35" stroke-width="${sizePx / 24}"/>`;
    })
    .join('');
}

/** The word that says what made the image; it lies on top. */
function stamp(widthPx: number, heightPx: number): string {
  const sizePx = Math.max(SMALLEST_PX, Math.round(Math.min(widthPx, heightPx) / 22));
  const { path, widthPx: long } = drawLine('SANDBOX', sizePx);
  const at = `translate(${(widthPx - long - sizePx).toFixed(1)} ${(heightPx - sizePx).toFixed(1)})`;
  return `<path transform="${at}" d="${path}" fill="#fff" fill-opacity="0.75"/>`;
}

function svg(width: number, height: number, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`;
}
