// The image module: images resized, cropped and converted, in processes of their own.
import { defineModule } from '../../kit/module.ts';
import { info } from './capabilities/info.ts';
import { transform } from './capabilities/transform.ts';
import { type ImageState, startImage } from './state.ts';

export const image = defineModule<ImageState>({
  name: 'image',
  summary: 'Images: resized, cropped, turned, converted.',
  status: 'beta',
  capabilities: [transform, info],
  console: async () => (await import('./console/index.ts')).imageConsole,
  prices: { 'image.transform': { unit: 'image', nanosPerUnit: 200_000n } },
  start: startImage,
});
