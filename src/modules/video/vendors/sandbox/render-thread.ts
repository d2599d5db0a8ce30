// Thread that renders one video: draws shots in sequence, encodes each frame as H.264 (Baseline), writes an MP4 with its index first. The same
// scenes give the same bytes. The video is in memory until it is written, some 0.1 to 4 MB a second.
import { writeFile } from 'node:fs/promises';
import type { H264MP4Encoder } from 'h264-mp4-encoder';
import {
  BufferSource,
  BufferTarget,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  MP4,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import sharp from 'sharp';
import { notInstalled, VIDEO_ENCODER } from '../../../../lib/not-installed.ts';
import { serve, type ThreadLine } from '../../../../lib/threads.ts';
import type { Scene } from '../port.ts';
import type { Planes } from './picture.ts';
import { drawShot } from './shot.ts';
import { FRAMES_PER_SECOND, shotsOf } from './storyboard.ts';

export interface RenderTask {
  readonly scenes: readonly Scene[];
  readonly widthPx: number;
  readonly heightPx: number;
  readonly image: Uint8Array | null;
  readonly videoPath: string;
  readonly thumbnailPath: string;
}

/** How far the video is. */
export interface RenderProgress {
  readonly frame: number;
  readonly frames: number;
}

// Quality of the encoder, 10 to 51, lower is better; and its speed, 10 is the fastest: the words stay sharp.
const QUANTIZATION = 26;
const SPEED = 10;
const FRAMES_PER_REPORT = 6;
const THUMBNAIL_WIDTH_PX = 640;

/** Boxes of an MP4 that hold others, and those that say when it was made. */
const PARENTS = new Set(['moov', 'trak', 'mdia']);
const DATED = new Set(['mvhd', 'tkhd', 'mdhd']);

// The picture of its reference is small, and used once.
sharp.concurrency(1);
sharp.cache(false);

serve(make);

async function make(task: RenderTask, { tell }: Pick<ThreadLine<RenderProgress, never, never>, 'tell'>): Promise<void> {
  const { scenes, widthPx, heightPx, image } = task;
  const shots = shotsOf(scenes);
  const frames = shots.reduce((sum, shot) => sum + shot.frames, 0);
  const encoder = await openEncoder(widthPx, heightPx);
  const picture: Planes = { widthPx, heightPx, bytes: new Uint8Array((widthPx * heightPx * 3) / 2) };
  let frame = 0;
  for (const [i, shot] of shots.entries()) {
    const drawn = await drawShot(shot, { widthPx, heightPx }, i === 0 ? image : null);
    for (let own = 0; own < drawn.frames; own += 1) {
      drawn.draw(picture, own);
      encoder.addFrameYuv(picture.bytes);
      if (i === 0 && own === Math.floor(drawn.frames / 2)) await writeThumbnail(picture, task.thumbnailPath);
      frame += 1;
      if (frame % FRAMES_PER_REPORT === 0) tell({ frame, frames });
    }
  }
  encoder.finalize();
  const video = await indexFirst(encoder.FS.readFile(encoder.outputFilename));
  encoder.delete();
  await writeFile(task.videoPath, video, { flush: true });
}

async function openEncoder(width: number, height: number): Promise<H264MP4Encoder> {
  const encoder = await createEncoder();
  Object.assign(encoder, { width, height, frameRate: FRAMES_PER_SECOND });
  Object.assign(encoder, { quantizationParameter: QUANTIZATION, speed: SPEED, groupOfPictures: 2 * FRAMES_PER_SECOND });
  encoder.initialize();
  return encoder;
}

/** The encoder's package is optional. */
async function createEncoder(): Promise<H264MP4Encoder> {
  const encoders = await import('h264-mp4-encoder').catch((cause: unknown) => {
    throw notInstalled(VIDEO_ENCODER, cause);
  });
  return encoders.default.createH264MP4Encoder();
}

/** The same frames in a file that can be played while it is fetched, with no time of its making in it. */
async function indexFirst(encoded: Uint8Array): Promise<Uint8Array> {
  const input = new Input({ source: new BufferSource(encoded), formats: [MP4] });
  const track = await input.getPrimaryVideoTrack();
  const decoderConfig = await track?.getDecoderConfig();
  if (track == null || decoderConfig == null) throw new Error('the encoder made no video');
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'in-memory' }), target });
  const source = new EncodedVideoPacketSource('avc');
  output.addVideoTrack(source, { frameRate: FRAMES_PER_SECOND });
  await output.start();
  for await (const packet of new EncodedPacketSink(track).packets()) await source.add(packet, { decoderConfig });
  await output.finalize();
  const video = new Uint8Array(target.buffer as ArrayBuffer);
  forgetTimes(video);
  return video;
}

/** Sets when the file was made, in the headers that say it, to zero. */
function forgetTimes(video: Uint8Array, start = 0, end = video.length): void {
  const view = new DataView(video.buffer, video.byteOffset, video.byteLength);
  for (let at = start; at + 8 <= end; ) {
    const size = view.getUint32(at);
    const type = String.fromCharCode(...video.subarray(at + 4, at + 8));
    if (PARENTS.has(type)) forgetTimes(video, at + 8, at + size);
    // Behind version and flags stand two times, of 4 bytes each, or of 8 in version 1.
    if (DATED.has(type)) video.fill(0, at + 12, at + 12 + (video[at + 8] === 1 ? 16 : 8));
    if (size < 8) return;
    at += size;
  }
}

/** A JPEG of the frame, from its planes. */
async function writeThumbnail({ widthPx, heightPx, bytes }: Planes, path: string): Promise<void> {
  const rgb = new Uint8Array(widthPx * heightPx * 3);
  const pixels = widthPx * heightPx;
  for (let i = 0; i < pixels; i += 1) {
    const colour = (Math.floor(i / widthPx / 2) * widthPx) / 2 + Math.floor((i % widthPx) / 2);
    const y = 1.1644 * ((bytes[i] as number) - 16);
    const u = (bytes[pixels + colour] as number) - 128;
    const v = (bytes[pixels + pixels / 4 + colour] as number) - 128;
    rgb[i * 3] = clamp(y + 1.7927 * v);
    rgb[i * 3 + 1] = clamp(y - 0.2132 * u - 0.5329 * v);
    rgb[i * 3 + 2] = clamp(y + 2.1124 * u);
  }
  const raw = { width: widthPx, height: heightPx, channels: 3 } as const;
  await sharp(rgb, { raw }).resize(THUMBNAIL_WIDTH_PX).jpeg({ quality: 80 }).toFile(path);
}

function clamp(value: number): number {
  return Math.max(0, Math.min(255, Math.round(value)));
}
