import { smooth, type Picture } from '../../src-main/library/recognition/picture.ts';

/** A page as from a bad copier: turned by up to 1.5°, blurred, pale, shaded on one side, noisy, with specks. */
export function degrade(page: Picture, random: () => number): Picture {
  const { width, height } = page;
  let picture = rotate(page, ((random() * 2 - 1) * 1.5 * Math.PI) / 180);
  // Each adds 0.5 to the variance of the blur: σ = 1 or 1.2 pixels.
  for (let i = 0; i < 2 + Math.round(random()); i++) picture = smooth(picture);
  const dark = 0.25 * random();
  const sigma = 8 + 6 * random();
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const shade = (1 - dark * (1 - x / width)) * (1 - 0.1 * (y / height));
      const noise = sigma * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      const speck = random();
      const value = speck < 0.001 ? 20 : speck > 0.999 ? 245 : 0;
      const grey = ((picture.grey[y * width + x] ?? 0) * 0.75 + 50) * shade + noise;
      picture.grey[y * width + x] = value || Math.max(0, Math.min(255, grey));
    }
  return picture;
}

function rotate({ width, height, grey }: Picture, angle: number): Picture {
  const turned = new Uint8Array(width * height).fill(255);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [dx, dy] = [x - width / 2, y - height / 2];
      const [fromX, fromY] = [width / 2 + cos * dx + sin * dy, height / 2 - sin * dx + cos * dy];
      const [left, top] = [Math.floor(fromX), Math.floor(fromY)];
      if (left < 0 || top < 0 || left >= width - 1 || top >= height - 1) continue;
      const at = (i: number, j: number): number => grey[(top + j) * width + left + i] ?? 255;
      const [right, down] = [fromX - left, fromY - top];
      turned[y * width + x] =
        (at(0, 0) * (1 - right) + at(1, 0) * right) * (1 - down) +
        (at(0, 1) * (1 - right) + at(1, 1) * right) * down;
    }
  return { width, height, grey: turned };
}

/** An 8-bit BMP, which browsers read. */
export function bmp({ width, height, grey }: Picture): Buffer {
  const row = Math.ceil(width / 4) * 4;
  const head = Buffer.alloc(54 + 1024);
  head.write('BM');
  head.writeUInt32LE(head.length + row * height, 2);
  head.writeUInt32LE(head.length, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(width, 18);
  head.writeInt32LE(-height, 22); // from the top
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(8, 28);
  for (let i = 0; i < 256; i++) head.fill(i, 54 + 4 * i, 54 + 4 * i + 3);
  const rows = Buffer.alloc(row * height);
  for (let y = 0; y < height; y++) rows.set(grey.subarray(y * width, (y + 1) * width), y * row);
  return Buffer.concat([head, rows]);
}
