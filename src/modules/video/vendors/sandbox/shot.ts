// One shot: a background in colours of its seed, a moving disc, and its words. All layers are drawn once; a frame is the background with the
// layers at their positions of that moment.
import { breakLines, drawLine } from '../../../../pictures/lettering.ts';
import { type Layer, lay, type Planes, planesOfImage, planesOfSvg } from './picture.ts';
import { numbersOf, type Shot } from './storyboard.ts';

export interface DrawnShot {
  readonly frames: number;
  /** Draws a frame of the shot, from 0, into `onto`. */
  draw(onto: Planes, frame: number): void;
}

interface Size {
  readonly widthPx: number;
  readonly heightPx: number;
}

const LINES_MAX = 6;
const TEXT_CHARACTERS_MAX = 400;

/** `image`: what is behind the words in place of a background. */
export async function drawShot(shot: Shot, size: Size, image: Uint8Array | null): Promise<DrawnShot> {
  const next = numbersOf(shot.seed);
  const hue = Math.floor(next() * 360);
  const under = image === null ? await background(size, hue) : await planesOfImage(image, size.widthPx, size.heightPx);
  const sign = await stamp(size);
  const disc = await planesOfSvg(discSvg(size, hue), even(size.heightPx / 4), even(size.heightPx / 4));
  const words = await card(shot.text, size);
  const [fromX, toX, fromY, toY] = [next(), next(), next() * 0.5, 0.5 + next() * 0.5];
  const drift = (next() - 0.5) * 0.08;
  return {
    frames: shot.frames,
    draw(onto, frame) {
      const share = shot.frames < 2 ? 0 : frame / (shot.frames - 1);
      onto.bytes.set(under.bytes);
      const at = (from: number, to: number, room: number) => even((from + (to - from) * share) * room);
      lay(onto, disc, at(fromX, toX, size.widthPx - disc.widthPx), at(fromY, toY, size.heightPx - disc.heightPx));
      if (words !== null) {
        const x = (size.widthPx - words.widthPx) / 2 + drift * size.widthPx * (share - 0.5);
        lay(onto, words, even(x), even((size.heightPx - words.heightPx) / 2));
      }
      lay(onto, sign, size.widthPx - sign.widthPx, size.heightPx - sign.heightPx);
    },
  };
}

function background({ widthPx, heightPx }: Size, hue: number): Promise<Layer> {
  const stop = (offset: number, turn: number, light: number) =>
    `<stop offset="${offset}" stop-color="hsl(${(hue + turn) % 360},55%,${light}%)"/>`;
  const fill = `<linearGradient id="g" x2="1" y2="1">${stop(0, 0, 22)}${stop(1, 50, 38)}</linearGradient>`;
  return planesOfSvg(
    svg(widthPx, heightPx, `<defs>${fill}</defs><rect width="100%" height="100%" fill="url(#g)"/>`),
    widthPx,
    heightPx,
  );
}

function discSvg({ heightPx }: Size, hue: number): string {
  const side = even(heightPx / 4);
  return svg(
    side,
    side,
    `<circle cx="${side / 2}" cy="${side / 2}" r="${side / 2}" fill="hsl(${(hue + 180) % 360},60%,60%)" fill-opacity="0.6"/>`,
  );
}

/** The word that says what made the video; it lies on top of every frame. */
function stamp({ widthPx, heightPx }: Size): Promise<Layer> {
  const sizePx = Math.round(Math.min(widthPx, heightPx) / 22);
  const { path, widthPx: long } = drawLine('SANDBOX', sizePx);
  const [width, height] = [even(long + 2 * sizePx), even(2.2 * sizePx)];
  const text = `<path transform="translate(${sizePx} ${sizePx * 1.2})" d="${path}" fill="#fff" fill-opacity="0.75"/>`;
  return planesOfSvg(svg(width, height, text), width, height);
}

/** The words in as few and as large lines as fit; null when there are none. */
async function card(text: string, size: Size): Promise<Layer | null> {
  if (text === '') return null;
  const said = [...text].length > TEXT_CHARACTERS_MAX ? `${[...text].slice(0, TEXT_CHARACTERS_MAX).join('')}…` : text;
  const room = size.widthPx * 0.8;
  let sizePx = Math.round(Math.min(size.widthPx, size.heightPx) / 9);
  let lines = breakLines(said, sizePx, room);
  while (lines.length > LINES_MAX && sizePx > 12) {
    sizePx = Math.round(sizePx * 0.85);
    lines = breakLines(said, sizePx, room);
  }
  const shown = lines.slice(0, LINES_MAX * 3).map((line) => drawLine(line, sizePx));
  if (shown.length === 0) return null;
  const lead = sizePx * 1.35;
  const width = even(Math.max(...shown.map(({ widthPx }) => widthPx)) + sizePx);
  const height = even(Math.min(size.heightPx, shown.length * lead + sizePx * 0.5));
  const paths = shown.map(({ path, widthPx }, i) => {
    const at = `translate(${(width - widthPx) / 2} ${sizePx * 1.1 + i * lead})`;
    return `<path transform="${at}" d="${path}" fill="#fff"/>`;
  });
  return planesOfSvg(svg(width, height, paths.join('')), width, height);
}

function svg(width: number, height: number, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`;
}

function even(pixels: number): number {
  return Math.round(pixels / 2) * 2;
}
