// Thread that checks video files of vendors and moves their index to the front. A hostile file can end only this thread.
import { EncodedPacketSink, FilePathSource, Input, MP4, QTFF, WEBM } from 'mediabunny';
import { serve, type ThreadLine } from '../../../../lib/threads.ts';
import type { CheckedVideo } from '../port.ts';
import { checkIndex, putIndexFirst, readBoxes, Unsound } from './boxes.ts';

const SIDE_PX_MAX = 16_384;
const SECONDS_MAX = 24 * 3_600;

serve(look);

async function look(path: string, { tell }: Pick<ThreadLine<'looked', never, never>, 'tell'>): Promise<CheckedVideo> {
  const input = new Input({ source: new FilePathSource(path), formats: [MP4, QTFF, WEBM] });
  try {
    const isWebm = (await input.getFormat()) === WEBM;
    const contentType = isWebm ? 'video/webm' : 'video/mp4';
    const boxes = isWebm ? [] : await readBoxes(path);
    await checkIndex(path, boxes);
    const track = await input.getPrimaryVideoTrack();
    if (track === null) return unsound('it has no moving pictures.');
    if ((await new EncodedPacketSink(track).getFirstPacket()) === null) return unsound('it has no frames.');
    const [widthPx, heightPx] = [await track.getDisplayWidth(), await track.getDisplayHeight()];
    const durationSeconds = await input.computeDuration();
    const isPlausible = durationSeconds > 0 && durationSeconds <= SECONDS_MAX;
    if (!isPlausible || !isSide(widthPx) || !isSide(heightPx)) return unsound('its size or its length makes no sense.');
    tell('looked');
    await putIndexFirst(path, boxes);
    return { kind: 'sound', contentType, widthPx, heightPx, durationSeconds };
  } catch (error) {
    // A disk that fails is not the video's fault.
    if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error;
    if (error instanceof Unsound) return unsound(`${error.message}.`);
    return unsound('it is damaged, or neither MP4 nor WebM.');
  } finally {
    input.dispose();
  }
}

function isSide(px: number): boolean {
  return px >= 1 && px <= SIDE_PX_MAX;
}

function unsound(message: string): CheckedVideo {
  return { kind: 'unsound', message };
}
