// Images of a document: PNG and JPEG, from data URLs and over https through the guard, bounded in number, bytes and pixels. An image that cannot
// be loaded is left out, with a warning.
import { isAssetName } from '../assets.ts';
import type { Ask } from '../wire.ts';
import type { Document, Element } from './dom.ts';

const IMAGES_MAX = 100;
const IMAGES_BYTES_MAX = 20 * 1024 * 1024;
const PIXELS_MAX = 25_000_000;
const FETCHED_AT_ONCE = 4;
const DATA_URL = /^data:image\/(?:png|jpe?g);base64,/i;

/** Each `src` becomes a data URL that the layout takes, or its element goes. */
export async function loadImages(document: Document, ask: Ask, warnings: string[]): Promise<void> {
  const elements = [...document.querySelectorAll('img')];
  const sources = new Map<string, Element[]>();
  for (const element of elements) {
    const src = element.getAttribute('src') ?? '';
    sources.set(src, [...(sources.get(src) ?? []), element]);
  }
  let bytes = 0;
  let images = 0;
  const load = async ([src, of]: [string, Element[]]) => {
    images += 1;
    const found = images > IMAGES_MAX ? `there are more than ${IMAGES_MAX}` : await imageOf(src, ask);
    if (typeof found !== 'string') bytes += found.length;
    const failure = typeof found === 'string' ? found : bytes > IMAGES_BYTES_MAX ? 'they have more than 20 MiB' : null;
    if (failure === null && typeof found !== 'string') {
      const type = isPng(found) ? 'png' : 'jpeg';
      const url = `data:image/${type};base64,${found.toString('base64')}`;
      for (const element of of) element.setAttribute('src', url);
      return;
    }
    for (const element of of) element.remove();
    warnings.push(`An image was left out (${src.slice(0, 80) || 'without src'}): ${failure}.`);
  };
  const waiting = [...sources];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await load(next);
  };
  await Promise.all(Array.from({ length: FETCHED_AT_ONCE }, worker));
}

/** Its bytes, or why there are none. */
async function imageOf(src: string, ask: Ask): Promise<Buffer | string> {
  const bytes = await bytesOf(src, ask);
  if (typeof bytes === 'string') return bytes;
  const size = sizeOf(bytes);
  if (size === null) return 'it is no PNG or JPEG';
  return size.width * size.height > PIXELS_MAX ? 'it has more than 25 megapixels' : bytes;
}

async function bytesOf(src: string, ask: Ask): Promise<Buffer | string> {
  if (DATA_URL.test(src)) return Buffer.from(src.slice(src.indexOf(',') + 1), 'base64');
  if (!/^https?:\/\//i.test(src) && !isAssetName(src)) return 'only https and data URLs of PNG and JPEG are loaded';
  const { bytes, status, message } = await ask({ url: src });
  if (bytes === null) return message;
  return status === 200
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : `it was answered with ${status}`;
}

const isPng = (bytes: Buffer) => bytes.length > 32 && bytes.readUInt32BE(0) === 0x89504e47;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** As the head says. Null: it is neither PNG nor JPEG. */
function sizeOf(bytes: Buffer): Size | null {
  if (isPng(bytes)) return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}
