// Takes the pictures of README: a fresh service, a week of four programs, and the overview as a person sees it. It takes a few minutes.
// Pictures are looked at, not compared: no check makes them again.
import { takePictures } from './pictures/overview.ts';
import { startPicturedService } from './pictures/place.ts';
import { liveWeek } from './pictures/week.ts';

const service = await startPicturedService();
try {
  const week = await liveWeek(service);
  try {
    await takePictures(service, week.email);
  } finally {
    week.stop();
  }
} finally {
  await service.stop();
}
