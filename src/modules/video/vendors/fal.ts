// Adapter for video models on fal's queue (vendors/call/fal.ts).
import { firstTextAt } from '../../../vendors/call/answer.ts';
import { falQueue } from '../../../vendors/call/fal.ts';
import { URL_CHARACTERS_MAX } from '../../../vendors/call/fetch-file.ts';
import { inputFaults, inputFields, vendorInput } from './inputs.ts';
import { NO_PUBLIC_ADDRESS, withoutParent } from './parent.ts';
import type { VideoAdapter, VideoFiles, VideoWork } from './port.ts';

const PLACES = ['video.url', 'videos.0.url', 'video_url', 'output.url', 'output'];

export function falAdapter(): VideoAdapter {
  const queue = falQueue<VideoWork, VideoFiles>({
    modelFields: inputFields,
    input: vendorInput,
    refused: (work) => (work.operation !== 'generate' && !work.parent?.url ? withoutParent(NO_PUBLIC_ADDRESS) : null),
    readOutput(result, output) {
      const videoUrl = firstTextAt(result, output === undefined ? PLACES : [output], URL_CHARACTERS_MAX);
      return videoUrl === null ? null : { videoUrl, thumbnailUrl: null };
    },
  });
  return { ...queue, extendsBy: 'url', check: inputFaults };
}
