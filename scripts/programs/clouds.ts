/**
 * Inputs of HeCBench's `daphne`: clouds of points that a camera sees, and the pictures that the program compares with, in double precision as its
 * kernel computes them. A block has the points of one row. Rows share no pixel, because blocks run in any order, and no point is near the border
 * of a pixel, because a GPU fuses products with sums.
 */

const [width, height] = [160, 120];
const [rows, columns] = [32, 256];
const pointBytes = 32;
/** The shift of the camera, and how its lens bends. */
const shift = [0.5, -0.25, 0.125];
const lens = [-0.05, 0.01, 0.001, -0.001, 0.002] as const;
const focus = 100;

/** Where the camera sees a point, and how far away. */
function projected(point: Float32Array, turn: readonly number[]): { readonly x: number; readonly y: number; readonly z: number } {
  const [x, y, z] = [0, 1, 2].map((row) =>
    [0, 1, 2].reduce((sum, column) => sum + (point[column]! - shift[column]!) * turn[column * 3 + row]!, 0),
  ) as [number, number, number];
  const [u, v] = [x / z, y / z];
  const r = u * u + v * v;
  const scale = 1 + lens[0] * r + lens[1] * r * r + lens[4] * r * r * r;
  return {
    x: focus * (u * scale + 2 * lens[2] * u * v + lens[3] * (r + 2 * u * u)) + width / 2 + 0.5,
    y: focus * (v * scale + lens[2] * (r + 2 * v * v) + 2 * lens[3] * u * v) + height / 2 + 0.5,
    z,
  };
}

/** A picture of the nearest points: intensity, distance, least and greatest height of each pixel. */
class Picture {
  readonly values = new Float32Array(width * height * 4);
  readonly #rows = new Int32Array(width * height).fill(-1);
  lowest = height;
  highest = -1;

  /** Adds a point of a row; false for one whose pixel is not certain, or that would depend on the order of blocks. */
  add(point: Float32Array, row: number, turn: readonly number[]): boolean {
    const { x, y, z } = projected(point, turn);
    // The program leaves out what is nearer than 2.5.
    if (Math.abs(z - 2.5) < 0.1) return false;
    if (z < 2.5) return true;
    if ([x, y].some((value) => Math.abs(value - Math.round(value)) < 1e-3)) return false;
    const [px, py] = [Math.trunc(x), Math.trunc(y)];
    if (px < 0 || px >= width || py < 0 || py >= height) return true;
    const pixel = py * width + px;
    const nearest = this.values[pixel * 4 + 1]!;
    const isOwn = this.#rows[pixel] === -1 || (this.#rows[pixel] === row && Math.abs(nearest - z * 100) >= 1);
    if (!isOwn) return false;
    this.#rows[pixel] = row;
    this.lowest = Math.min(this.lowest, py);
    this.highest = Math.max(this.highest, py);
    if (nearest === 0 || z * 100 < nearest) this.values.set([point[4]!, z * 100, -1.25, 0], pixel * 4);
    return true;
  }
}

/** Two clouds, each with its camera, and their pictures, as the parts of two files. */
export function clouds(random: () => number): { readonly points: ArrayBufferView[]; readonly pictures: ArrayBufferView[] } {
  const points: ArrayBufferView[] = [Int32Array.of(2)];
  const pictures: ArrayBufferView[] = [];
  for (const angle of [0.1, 0.2]) {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const turn = [cos, -sin, 0, sin, cos, 0, 0, 0, 1];
    const picture = new Picture();
    const cloud = new Float32Array((rows * columns * pointBytes) / 4);
    const newPoint = (): Float32Array => Float32Array.of(random() * 24 - 12, random() * 18 - 9, random() * 20, 0, random());
    for (let i = 0; i < rows * columns; i++) {
      let point = newPoint();
      while (!picture.add(point, Math.floor(i / columns), turn)) point = newPoint();
      cloud.set(point, (i * pointBytes) / 4);
    }
    const camera = [...[0, 1, 2].flatMap((row) => [...turn.slice(row * 3, row * 3 + 3), shift[row]!]), 0, 0, 0, 1];
    const lensOf = [focus, 0, width / 2, 0, focus, height / 2, 0, 0, 1, ...lens];
    points.push(Int32Array.of(rows, columns, pointBytes), cloud, Float64Array.from([...camera, ...lensOf]), Int32Array.of(width, height));
    pictures.push(Int32Array.of(width, height, picture.highest, picture.lowest), picture.values);
  }
  return { points, pictures };
}
