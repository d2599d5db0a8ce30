// The process that works on images (pictures).
import { servePictures } from '../../../pictures/serve.ts';

servePictures(async () => (await import('./make.ts')).makeImage);
