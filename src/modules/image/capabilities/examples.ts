// Inputs of the image examples: a picture of 4 x 2 pixels, red above blue, and jobs of the sandbox.

export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAIAAADwyuo0AAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAEUlEQVQI12P4z8AARwxI7P8AZ7IH+TYp8LsAAAAASUVORK5CYII=';

export const oneCard = {
  capability: 'image.generate',
  input: { prompt: 'A paper boat on a pond.', model: 'sandbox/card-1', size: '256x256' },
} as const;

/** A job of the sandbox that never ends by itself. */
export const endless = {
  capability: 'image.generate',
  input: { prompt: 'A paper boat. [[hang]]', model: 'sandbox/card-1', size: '256x256' },
} as const;
