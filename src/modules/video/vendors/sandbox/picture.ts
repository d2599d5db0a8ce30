// Pictures in the encoder's format for H.264: one luma plane and two chroma planes at half the size (I420, BT.709, limited range).
import sharp from 'sharp';

export interface Planes {
  readonly widthPx: number;
  readonly heightPx: number;
  /** Y, then U, then V. */
  readonly bytes: Uint8Array;
}

/** A picture that lies on others: its planes, and how much of it covers, a byte per pixel of brightness and of colour. */
export interface Layer extends Planes {
  readonly cover: Uint8Array;
}

export async function planesOfSvg(svg: string, widthPx: number, heightPx: number): Promise<Layer> {
  const data = await sharp(Buffer.from(svg)).resize(widthPx, heightPx, { fit: 'fill' }).ensureAlpha().raw().toBuffer();
  return layerOf(data, widthPx, heightPx);
}

/** The image over the whole of the picture, cut where its shape is another. */
export async function planesOfImage(image: Uint8Array, widthPx: number, heightPx: number): Promise<Layer> {
  const data = await sharp(image).rotate().resize(widthPx, heightPx, { fit: 'cover' }).ensureAlpha().raw().toBuffer();
  return layerOf(data, widthPx, heightPx);
}

/** RGBA to planes; both sides are even. */
function layerOf(rgba: Uint8Array, widthPx: number, heightPx: number): Layer {
  const pixels = widthPx * heightPx;
  const bytes = new Uint8Array(pixels + pixels / 2);
  const cover = new Uint8Array(pixels + pixels / 4);
  for (let i = 0; i < pixels; i += 1) {
    const p = i * 4;
    const [r, g, b] = [rgba[p] as number, rgba[p + 1] as number, rgba[p + 2] as number];
    bytes[i] = 16 + 0.1826 * r + 0.6142 * g + 0.062 * b;
    cover[i] = rgba[p + 3] as number;
  }
  const half = widthPx / 2;
  for (let y = 0; y < heightPx; y += 2) {
    for (let x = 0; x < widthPx; x += 2) {
      const p = (y * widthPx + x) * 4;
      const [r, g, b] = [rgba[p] as number, rgba[p + 1] as number, rgba[p + 2] as number];
      const at = (y / 2) * half + x / 2;
      bytes[pixels + at] = 128 - 0.1006 * r - 0.3386 * g + 0.4392 * b;
      bytes[pixels + pixels / 4 + at] = 128 + 0.4392 * r - 0.3989 * g - 0.0403 * b;
      cover[pixels + at] = rgba[p + 3] as number;
    }
  }
  return { widthPx, heightPx, bytes, cover };
}

/** Lays `layer` on `onto` with its corner at (x, y), both even; what lies outside is left out. */
export function lay(onto: Planes, layer: Layer, x: number, y: number): void {
  const covers = planesIn({ ...layer, bytes: layer.cover });
  const targets = planesIn(onto);
  planesIn(layer).forEach((plane, i) => {
    const cover = covers[Math.min(i, 1)] as Plane;
    const by = i === 0 ? 1 : 2;
    blend(targets[i] as Plane, plane, cover, x / by, y / by);
  });
}

interface Plane {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly width: number;
  readonly height: number;
}

function planesIn({ bytes, widthPx, heightPx }: Planes): Plane[] {
  const pixels = widthPx * heightPx;
  const half = { bytes, width: widthPx / 2, height: heightPx / 2 };
  return [
    { bytes, offset: 0, width: widthPx, height: heightPx },
    { ...half, offset: pixels },
    { ...half, offset: pixels + pixels / 4 },
  ];
}

function blend(to: Plane, from: Plane, cover: Plane, x: number, y: number): void {
  const left = Math.max(0, -x);
  const right = Math.min(from.width, to.width - x);
  const bottom = Math.min(from.height, to.height - y);
  for (let row = Math.max(0, -y); row < bottom; row += 1) {
    const line = row * from.width;
    const target = to.offset + (y + row) * to.width + x;
    for (let column = left; column < right; column += 1) {
      const alpha = cover.bytes[cover.offset + line + column] as number;
      if (alpha === 0) continue;
      const at = target + column;
      const under = to.bytes[at] as number;
      const over = from.bytes[from.offset + line + column] as number;
      to.bytes[at] = under + ((over - under) * alpha) / 255;
    }
  }
}
