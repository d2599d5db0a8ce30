// Numbers of the image module; what a picture may take stands in core/admission.ts.

export const SIDE_PX_MAX = 8_192;
export const BLUR_MIN = 0.3;
export const BLUR_MAX = 50;
export const SHARPEN_MIN = 0.5;
export const SHARPEN_MAX = 10;
/** 20 MiB as base64, and what stands beside it. */
export const BODY_BYTES_MAX = 28 * 1024 * 1024;
