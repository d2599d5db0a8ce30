// Optional packages of package.json: large, and rarely needed.

export const CHINESE_FONT = '@fontsource/noto-sans-sc';
export const VIDEO_ENCODER = 'h264-mp4-encoder';

/** What is thrown where one is needed and not there. */
export const notInstalled = (name: string, cause?: unknown): Error =>
  new Error(`the optional package ${name} is not installed: run npm install ${name}`, { cause });
