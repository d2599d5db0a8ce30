// Opening calls shared by the examples of several operations.

export const oneSecond = {
  capability: 'video.generate',
  input: { prompt: 'A paper boat on a pond.', model: 'sandbox/storyboard-1', duration_seconds: 1 },
} as const;

/** The same, once it is done. */
export const oneVideo = [
  oneSecond,
  { capability: 'video.status', input: { job_id: '$0.job_id' }, until: { state: 'succeeded' } },
] as const;

/** A job of the sandbox that never ends by itself. */
export const endless = {
  capability: 'video.generate',
  input: { prompt: 'A paper boat on a pond. [[hang]]', model: 'sandbox/storyboard-1', duration_seconds: 1 },
} as const;
