// Entry point of the process that transforms images (make.ts).
import { servePictures } from '../../../pictures/serve.ts';

servePictures(async () => (await import('./make.ts')).makeImage);
