// The process that makes pictures of videos (core/pictures).
import { servePictures } from '../../../../core/pictures/serve.ts';

servePictures(async () => (await import('./picture.ts')).makePicture);
