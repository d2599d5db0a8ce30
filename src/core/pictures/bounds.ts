// What one picture may take (admission.call): what is refused with what, and what a refusal costs.

const MIB = 1024 * 1024;

export const decodeBounds = {
  /** A picture sent with a video, or made by a vendor. Beyond: VALIDATION_FAILED, code_detail `image_size` or `image_too_costly`. Costs its head;
   * of one that takes too long or too much memory as much as stands here, in a process that then ends. The most that a sound one takes: 4 s (a
   * WebP of 40 megapixels), 400 MiB (a progressive JPEG turned by its EXIF). */
  picture: {
    bytesMax: 10 * MIB,
    sidePxMin: 64,
    sidePxMax: 8_192,
    pixelsMax: 40_000_000,
    /** 40 megapixels with alpha at 8 bits; half as many at 16. */
    decodedBytesMax: 160_000_000,
    /** Larger ones are made one at a time: two of 40 megapixels would take 800 MiB. */
    smallPixelsMax: 12_000_000,
    /** Each goes over the whole picture: 1,000 in 140 KB take 10 s. */
    scansMax: 64,
    cpuMsMax: 15_000,
    msMax: 60_000,
    memoryBytesMax: 640 * MIB,
  },
  /**
   * A picture that image.transform or image.info works on, its frames one above the other. Beyond: VALIDATION_FAILED, code_detail `image_size`,
   * `image_frames`, `image_too_large` or `image_too_costly`. Made as those of videos are, in the same turns.
   */
  image: {
    bytesMax: 20 * MIB,
    pixelsMax: 50_000_000,
    /** 50 megapixels with alpha at 8 bits. */
    decodedBytesMax: 200_000_000,
    framesMax: 100,
    /** Of what is made, which has at most `pixelsMax` too. */
    sidePxMax: 8_192,
    madeBytesMax: 64 * MIB,
    smallPixelsMax: 12_000_000,
    scansMax: 64,
    cpuMsMax: 15_000,
    msMax: 20_000,
    memoryBytesMax: 768 * MIB,
  },
};
