/** A grey picture: a byte a pixel, row by row from the top, 0 black. */
export interface Picture {
  width: number;
  height: number;
  grey: Uint8Array;
}

/** A page at 300 dpi has 9 million pixels; what is larger is a photograph. */
const MAX_PIXELS = 16_000_000;

/** Smooths the noise of scanners and cameras, which thresholding takes for dots of ink: a 3 × 3 binomial filter. */
export function smooth({ width, height, grey }: Picture): Picture {
  const smoothed = Uint8Array.from(grey);
  const at = (i: number): number => grey[i] ?? 0;
  const across = (i: number): number => at(i - 1) + 2 * at(i) + at(i + 1);
  for (let y = 1; y < height - 1; y++)
    for (let x = 1; x < width - 1; x++) {
      const i = y * width + x;
      smoothed[i] = (across(i - width) + 2 * across(i) + across(i + width) + 8) >> 4;
    }
  return { width, height, grey: smoothed };
}

/** Averages squares of pixels until the picture is small enough to recognise. */
export function fit(picture: Picture): Picture {
  const side = Math.ceil(Math.sqrt((picture.width * picture.height) / MAX_PIXELS));
  if (side <= 1) return picture;
  const width = Math.floor(picture.width / side);
  const height = Math.floor(picture.height / side);
  const grey = new Uint8Array(width * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      let sum = 0;
      for (let row = 0; row < side; row++)
        for (let column = 0; column < side; column++)
          sum += picture.grey[(y * side + row) * picture.width + x * side + column] ?? 0;
      grey[y * width + x] = sum / side ** 2;
    }
  return { width, height, grey };
}

/** Turns a picture clockwise by quarters. */
export function turn({ width, height, grey }: Picture, quarters: number): Picture {
  if (quarters === 0) return { width, height, grey };
  const turned = new Uint8Array(grey.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) turned[x * height + height - 1 - y] = grey[y * width + x] ?? 0;
  return turn({ width: height, height: width, grey: turned }, quarters - 1);
}

/** A colour on white; 0 to 255 each. */
export function greyOf(red: number, green: number, blue: number, alpha: number): number {
  return 255 + ((0.3 * red + 0.59 * green + 0.11 * blue - 255) * alpha) / 255;
}
