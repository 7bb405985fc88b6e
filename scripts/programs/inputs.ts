/**
 * Inputs for programs whose own are not in their repository (`.dvc` and `git-lfs` leave the names of files only): seeded, in the format that
 * the source of the program reads, and of a size that two cores compute. A file that is there is never written over.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { random as randomNumbers } from '../../spec/support/mutate.ts';
import { clouds } from './clouds.ts';

type Content = string | Uint8Array;
type Random = () => number;

const bytesOf = (...arrays: readonly ArrayBufferView[]): Uint8Array =>
  Buffer.concat(arrays.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)));
const floats = (count: number, value: (i: number) => number): Float32Array => Float32Array.from({ length: count }, (_, i) => value(i));
const lines = (count: number, line: (i: number) => string): string => `${Array.from({ length: count }, (_, i) => line(i)).join('\n')}\n`;
const below = (random: Random, n: number): number => Math.floor(random() * n);

/** A smooth picture with noise: red, green and blue from 0 to 255. */
const shade = (random: Random, x: number, y: number): number[] =>
  [x * 3 + y, 255 - x - y * 2, x * y].map((n, i) => ((n >> i) + below(random, 32)) & 255);

/** A bitmap of 24 bits a pixel, without compression; the width is a multiple of four. */
function bmp(random: Random, width: number, height: number): Uint8Array {
  const head = Buffer.alloc(54);
  const size = width * height * 3;
  head.write('BM', 0, 'latin1');
  const fields = [
    [2, 54 + size],
    [10, 54],
    [14, 40],
    [18, width],
    [22, height],
    [34, size],
  ] as const;
  for (const [at, value] of fields) head.writeUInt32LE(value, at);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(24, 28);
  const pixels = Array.from({ length: width * height }, (_, i) => shade(random, i % width, (i / width) | 0));
  return bytesOf(head, Uint8Array.from(pixels.flat()));
}

/** A binary portable pixmap. */
function ppm(random: Random, width: number, height: number): Uint8Array {
  const pixels = Array.from({ length: width * height }, (_, i) => shade(random, i % width, (i / width) | 0));
  return bytesOf(Buffer.from(`P6\n${width} ${height}\n255\n`, 'latin1'), Uint8Array.from(pixels.flat()));
}

/** A connected graph without direction: neighbours of each node, ascending, each edge at both ends. */
function graph(random: Random, nodes: number, degree: number): number[][] {
  const sets = Array.from({ length: nodes }, () => new Set<number>());
  const join2 = (a: number, b: number): void => {
    if (a === b) return;
    sets[a]!.add(b);
    sets[b]!.add(a);
  };
  for (let i = 1; i < nodes; i++) join2(i, below(random, i));
  for (let i = 0; i < (nodes * (degree - 2)) / 2; i++) join2(below(random, nodes), below(random, nodes));
  return sets.map((set) => [...set].sort((a, b) => a - b));
}

/** Rows of a graph in the form of two counts a node: where its edges begin, and how many it has. */
function rowsOf(neighbours: readonly number[][]): string {
  let start = 0;
  return lines(neighbours.length, (i) => {
    const row = `${start} ${neighbours[i]!.length}`;
    start += neighbours[i]!.length;
    return row;
  });
}

/** The binary form of graphs of the ECL programs: counts, starts, neighbours, and lengths of edges where they have any. */
function ecl(random: Random, nodes: number, degree: number, isWeighted = false): Uint8Array {
  const all = graph(random, nodes, degree);
  const starts = [0];
  for (const list of all) starts.push(starts.at(-1)! + list.length);
  const ends = all.flat();
  const weights = isWeighted ? all.flatMap((list, i) => list.map((to) => 1 + ((i * to) % 97))) : [];
  return bytesOf(Int32Array.from([nodes, ends.length, ...starts, ...ends, ...weights]));
}

/** A graph with lengths of edges as `sssp` reads it, and the distances from its source that it compares with, by Dijkstra's algorithm. */
function roads(random: Random): { readonly input: string; readonly distances: string } {
  const all = graph(random, 1000, 4);
  const cost = all.map((list) => list.map(() => 1 + below(random, 20)));
  const distance = all.map(() => Number.POSITIVE_INFINITY);
  distance[0] = 0;
  const open = new Set(all.keys());
  while (open.size > 0) {
    const near = [...open].reduce((a, b) => (distance[b]! < distance[a]! ? b : a));
    open.delete(near);
    for (const [i, to] of all[near]!.entries()) distance[to] = Math.min(distance[to]!, distance[near]! + cost[near]![i]!);
  }
  const edges = all.flatMap((list, i) => list.map((to, j) => `${to} ${cost[i]![j]}`));
  return {
    input: `${all.length} ${edges.length}\n0\n${rowsOf(all)}${edges.join('\n')}\n`,
    distances: `${all.length}\n${lines(all.length, (i) => `${i} ${distance[i]}`)}`,
  };
}

/** A mesh of Rodinia's `cfd`: a torus of cells with four neighbours each, whose normals add up to zero. */
function mesh(random: Random, side: number): string {
  const normals = ['0.8 0.3 0.1', '-0.8 -0.3 -0.1', '0.2 0.9 -0.4', '-0.2 -0.9 0.4'];
  const cell = (x: number, y: number): number => 1 + ((x + side) % side) + ((y + side) % side) * side;
  return `${side * side}\n${lines(side * side, (i) => {
    const [x, y] = [i % side, Math.floor(i / side)];
    const near = [cell(x + 1, y), cell(x - 1, y), cell(x, y + 1), cell(x, y - 1)];
    return `${(0.5 + random()).toFixed(4)} ${near.map((n, j) => `${n} ${normals[j]}`).join(' ')}`;
  })}`;
}

/** Pictures of grey as a video without compression: bright spots that move over a dark ground. */
function avi(random: Random, frames: number): Uint8Array {
  const [width, height] = [640, 480];
  const spots = Array.from({ length: 12 }, () => [40 + random() * (width - 80), 160 + random() * 120] as const);
  const chunk = (tag: string, ...parts: Uint8Array[]): Uint8Array => {
    const body = Buffer.concat(parts);
    const head = Buffer.alloc(8);
    head.write(tag, 0, 'latin1');
    head.writeUInt32LE(body.length, 4);
    return Buffer.concat([head, body]);
  };
  const text = (tag: string): Uint8Array => Buffer.from(tag, 'latin1');
  const stream = Buffer.alloc(56);
  stream.write('vidsDIB ', 0, 'latin1');
  for (const [at, value] of [
    [20, 1],
    [24, 30],
    [32, frames],
  ] as const)
    stream.writeUInt32LE(value, at);
  const format = Buffer.alloc(40);
  for (const [at, value] of [
    [0, 40],
    [4, width],
    [8, height],
    [14, 8],
  ] as const)
    format.writeUInt32LE(value, at);
  const picture = (frame: number): Uint8Array =>
    Uint8Array.from({ length: width * height }, (_, i) => {
      const [x, y] = [i % width, Math.floor(i / width)];
      const near = Math.min(...spots.map(([u, v]) => Math.hypot(x - u - frame * 2, y - v)));
      return Math.round((near < 10 ? 190 : 60) + random() * 20);
    });
  const header = chunk('LIST', text('hdrl'), chunk('LIST', text('strl'), chunk('strh', stream), chunk('strf', format)));
  const all = Array.from({ length: frames }, (_, frame) => chunk('00db', picture(frame)));
  return chunk('RIFF', text('AVI '), header, chunk('LIST', text('movi'), ...all));
}

/** Parameters of 4096 generators of the shape of `MT.h`, whole ones for the host and the part that the device reads. */
function twisters(random: Random, isRaw: boolean): Uint8Array {
  const word = (): number => below(random, 2 ** 32);
  const rows = Array.from({ length: 4096 }, (_, i) => {
    const [a, b, c] = [(0xfac40000 + i) >>> 0, word(), word()];
    return isRaw ? [a, 9, 19, 1, 32, 0xffffffff, 0xfffffffe, 1, 12, 18, 7, 15, b, c, 0, 0] : [a, b, c, 0];
  });
  return bytesOf(Uint32Array.from(rows.flat()));
}

const letters = (random: Random, count: number, alphabet: string): string =>
  Array.from({ length: count }, () => alphabet[below(random, alphabet.length)]).join('');
const words = (random: Random, count: number): string =>
  Array.from({ length: count }, () => letters(random, 2 + below(random, 7), 'etaoinshrdlu')).join(' ');
const matrix = (random: Random, from: number, to: number, count: number): string =>
  lines(count, () => (from + (to - from) * random()).toFixed(4));
/** Rows `label index:value …`, the form of LIBSVM. */
const svm = (random: Random, rows: number, columns: number): string =>
  lines(rows, () => {
    const values = Array.from({ length: columns }, (_, j) => (random() < 0.3 ? `${j + 1}:${(random() * 2 - 1).toFixed(4)}` : '')).filter(
      Boolean,
    );
    return `${random() < 0.5 ? 1 : -1} ${values.join(' ')}`;
  });

/** Pictures of 28 by 28 and their digits, in the form of MNIST. */
function digits(random: Random, count: number): readonly [Uint8Array, Uint8Array] {
  const head = (...fields: number[]): Buffer =>
    Buffer.concat(fields.map((n) => Buffer.from([n >>> 24, (n >> 16) & 255, (n >> 8) & 255, n & 255])));
  const labels = Uint8Array.from({ length: count }, () => below(random, 10));
  const pixels = Uint8Array.from({ length: count * 784 }, (_, i) =>
    (i % 784) / 79 > labels[(i / 784) | 0]! ? below(random, 64) : 255 - below(random, 64),
  );
  return [bytesOf(head(2051, count, 28, 28), pixels), bytesOf(head(2049, count), labels)];
}

/** Files by the program that reads them, with paths from its folder. */
const inputs: Readonly<Record<string, (random: Random) => Readonly<Record<string, Content>>>> = {
  aes: (random) => ({ '../urng-sycl/URNG_Input.bmp': bmp(random, 256, 256) }),
  urng: (random) => ({ '../urng-sycl/URNG_Input.bmp': bmp(random, 256, 256) }),
  sobel: (random) => ({ '../sobel-sycl/SobelFilter_Input.bmp': bmp(random, 256, 256) }),
  sad: (random) => ({ 'coins.bmp': bmp(random, 64, 64), 'coin.bmp': bmp(random, 16, 16) }),
  medianfilter: (random) => ({ '../medianfilter-sycl/data/SierrasRGB.ppm': ppm(random, 512, 256) }),
  recursiveGaussian: (random) => ({ 'StoneRGB.ppm': ppm(random, 256, 256) }),
  'b+tree': (random) => ({
    'made/mil.txt': `10000\n${lines(10000, () => String(1 + below(random, 10000)))}`,
    'made/command.txt': 'j 600 300\nk 1000\n',
  }),
  cc: (random) => ({ 'made/graph.egr': ecl(random, 5000, 6) }),
  floydwarshall2: (random) => ({ 'made/graph.egr': ecl(random, 128, 6, true) }),
  cfd: (random) => ({ 'made/mesh': mesh(random, 32) }),
  hotspot: (random) => ({ 'made/temp_64': matrix(random, 320, 340, 4096), 'made/power_64': matrix(random, 0, 0.001, 4096) }),
  hotspot3D: (random) => ({ 'made/temp_64x8': matrix(random, 320, 340, 32768), 'made/power_64x8': matrix(random, 0, 0.001, 32768) }),
  hogbom: (random) => ({
    'made/dirty.img': bytesOf(floats(128 * 128, () => random())),
    'made/psf.img': bytesOf(floats(128 * 128, (i) => 1 / (1 + Math.hypot((i % 128) - 64, Math.floor(i / 128) - 64)))),
  }),
  mt: (random) => ({
    'data/MersenneTwister.dat': twisters(randomNumbers(9), false),
    'data/MersenneTwister.raw': twisters(randomNumbers(9), random() >= 0),
  }),
  ss: (random) => ({
    '../ss-sycl/StringSearch_Input.txt': Array.from({ length: 40 }, () => `${words(random, 100)} clEnqueueNDRangeKernel`).join(' '),
  }),
  sssp: (random) => {
    const { input, distances } = roads(random);
    return { 'input/NYR_input.dat': input, 'output/NYR_bfs.out': distances };
  },
  svd3x3: (random) => ({
    'made/matrices.txt': `1000\n${lines(1000, () => Array.from({ length: 9 }, () => (random() * 2 - 1).toFixed(5)).join(' '))}`,
  }),
  tonemapping: (random) => ({
    '../tonemapping-sycl/input.hdr': `128 64\n${lines(128 * 64, () => `${random() * 4} ${random() * 4} ${random() * 4} 1`)}`,
  }),
  bfs: (random) => {
    const all = graph(random, 5000, 6);
    const edges = all.flat();
    return { 'made/graph.txt': `${all.length}\n${rowsOf(all)}0\n${edges.length}\n${lines(edges.length, (i) => `${edges[i]} 1`)}` };
  },
  deredundancy: (random) => ({
    '../deredundancy-sycl/testData.fasta': lines(200, (i) => `>read${i}\n${letters(random, 60 + below(random, 60), 'ACGT')}`),
  }),
  'd2q9-bgk': (random) => ({
    'made/input.params': '64\n64\n20\n10\n0.1\n0.005\n1.85\n',
    'made/obstacles.dat': lines(100, () => `${1 + below(random, 62)} ${1 + below(random, 62)} 1`),
  }),
  gd: (random) => ({ 'made/rows': svm(random, 100, 50) }),
  geodesic: (random) => ({
    '../geodesic-sycl/locations.txt': lines(2 ** 21, () => `${(random() * 180 - 90).toFixed(3)} ${(random() * 360 - 180).toFixed(3)}`),
  }),
  haversine: (random) => ({
    '../geodesic-sycl/locations.txt': lines(2 ** 21, () => `${(random() * 180 - 90).toFixed(3)} ${(random() * 360 - 180).toFixed(3)}`),
  }),
  gibbs: (random) => ({ 'made/data.txt': lines(256, () => `${below(random, 20)} ${(1 + random() * 4).toFixed(3)}`) }),
  'graphB+': (random) => ({
    'made/graph.csv': `from,to,weight\n${graph(random, 500, 6)
      .flatMap((list, i) => list.filter((to) => to > i).map((to) => `${i},${to},${random() < 0.5 ? 1 : -1}`))
      .join('\n')}\n`,
  }),
  lanczos: (random) => ({
    'made/graph.txt': graph(random, 1000, 6)
      .flatMap((list, i) => list.map((to) => `${i} ${to}\n`))
      .join(''),
  }),
  lr: (random) => ({ '../lr-sycl/assets/temperature.txt': lines(100000, (i) => `${i}\t${(10 + i / 1e4 + random()).toFixed(4)}`) }),
  lzss: (random) => ({ 'made/numbers': bytesOf(floats(65536, (i) => Math.round(Math.sin(i / 50) * 16 + random()))) }),
  mnist: (random) => {
    const [trainImages, trainLabels] = digits(random, 200);
    const [testImages, testLabels] = digits(random, 50);
    return {
      'data/train-images.idx3-ubyte': trainImages,
      'data/train-labels.idx1-ubyte': trainLabels,
      'data/t10k-images.idx3-ubyte': testImages,
      'data/t10k-labels.idx1-ubyte': testLabels,
    };
  },
  mpc: (random) => ({ 'made/trace': bytesOf(Float64Array.from({ length: 65536 }, (_, i) => Math.sin(i / 100) + random() / 1024)) }),
  mriQ: (random) => ({
    'made/points.bin': bytesOf(
      Int32Array.from([512, 4096]),
      floats(512 * 3 + 4096 * 3 + 512 * 2, () => random() - 0.5),
    ),
  }),
  nn: (random) => ({
    'made/list.txt': 'made/storms.db\n',
    'made/storms.db': lines(
      2000,
      () =>
        `2000 1 1 ABCDEFGHIJKLMNOPQRSTUVWXYZ0`.padEnd(28).slice(0, 28) +
        `${(10 + random() * 60).toFixed(2)}${(10 + random() * 80).toFixed(2)}`.padEnd(20).slice(0, 20),
    ),
  }),
  sa: (random) => ({ 'genome.txt': letters(random, 10000, 'acgt') }),
  word2vec: (random) => ({ 'made/text': words(random, 20000) }),
  kmc: (random) => ({ 'made/rows': svm(random, 500, 20) }),
  permutate: (random) => ({ 'test_data/truerand_1bit.bin': Uint8Array.from({ length: 1e6 }, () => below(random, 2)) }),
  bsw: (random) => {
    const proteins = Array.from({ length: 32 }, () => letters(random, 60 + below(random, 200), 'ACDEFGHIKLMNPQRSTVWY'));
    const changed = proteins.map((text) =>
      text.replace(/./g, (letter) => (random() < 0.1 ? letters(random, 1, 'ACDEFGHIKLMNPQRSTVWY') : letter)),
    );
    return {
      'test-data/protein-reference.fasta': lines(32, (i) => `>${i}\n${proteins[i]}`),
      'test-data/protein-query.fasta': lines(32, (i) => `>${i}\n${changed[i]}`),
    };
  },
  ccs: (random) => ({
    'made/genes.txt': `gene ${Array.from({ length: 50 }, (_, j) => `c${j}`).join(' ')}\n${lines(100, (i) => `g${i} ${Array.from({ length: 50 }, () => (random() * 10).toFixed(3)).join(' ')}`)}`,
  }),
  clink: (random) => {
    // 20000 values of one sample, and the weights of two networks of five cells.
    const weights = (): string => lines(146, () => (random() * 2 - 1).toFixed(5));
    return {
      'input.hpp': lines(20000, (i) => Math.sin(i / 50 + random()).toFixed(5)),
      'weight_1.hpp': weights(),
      'weight_2.hpp': weights(),
    };
  },
  daphne: (random) => {
    const { points, pictures } = clouds(random);
    return { 'data/p2i_input.dat': bytesOf(...points), 'data/p2i_output.dat': bytesOf(...pictures) };
  },
  easyWave: (random) => ({
    // A basin of 4 km around the faults, as GoldenSoftware's text: sizes, borders, lowest and highest, rows.
    '../easyWave-omp/data/grids/e2Asean.grd': `DSAA\n120 100\n96 108\n-10 0\n-4100 -3900\n${lines(100, () => Array.from({ length: 120 }, () => (-4000 + random() * 100).toFixed(1)).join(' '))}`,
  }),
  // The decoder looks at the content, not at the name.
  'seam-carving': (random) => ({ 'Broadway_tower.jpg': bmp(random, 256, 128) }),
  snake: (random) => ({
    'made/pairs.txt': lines(4096, () => {
      const read = letters(random, 100, 'ACGT');
      const rate = random() * 0.3;
      return `${read}\t${read.replace(/./g, (letter) => (random() < rate ? letters(random, 1, 'ACGT') : letter))}`;
    }),
  }),
  snicit: (random) => ({ 'dataset/beyond/MNIST/t10k-images-idx3-ubyte': digits(random, 10000)[0] }),
  bicgstab: (random) => {
    // Symmetric, with a diagonal that outweighs its row; the lower half by columns, counted from 1.
    const entries = graph(random, 1000, 6).flatMap((list, j) => [
      `${j + 1} ${j + 1} ${list.length + 1}`,
      ...list.flatMap((i) => (i > j ? [`${i + 1} ${j + 1} ${(-random()).toFixed(5)}`] : [])),
    ]);
    const head = `%%MatrixMarket matrix coordinate real symmetric\n1000 1000 ${entries.length}`;
    return { 'TEM27623/TEM27623_M.mtx': `${head}\n${entries.join('\n')}\n` };
  },
  gmm: (random) => ({
    data: `a,b,c,d\n${lines(1024, (i) => Array.from({ length: 4 }, () => ((i % 5) * 10 + random() * 4).toFixed(4)).join(','))}`,
  }),
  leukocyte: (random) => ({ '../data/leukocyte/testfile.avi': avi(random, 3) }),
  hbc: (random) => ({
    'graphs/breast_coexpress.txt': graph(random, 400, 6)
      .flatMap((list, i) => list.flatMap((to) => (to > i ? [`g${i} g${to}\n`] : [])))
      .join(''),
  }),
  henry: (random) => ({
    // A cube of 20 Angstrom, a line without meaning, the number of atoms, another such line, and atoms by fractions of the cube.
    'IRMOF-1.cssr': `20 20 20\n90 90 90\n64\n0\n${lines(64, (i) => `${i + 1} ${['Zn', 'O', 'C', 'H'][i % 4]} ${random().toFixed(5)} ${random().toFixed(5)} ${random().toFixed(5)}`)}`,
  }),
  mmcsf: (random) => {
    const places = new Set(Array.from({ length: 4000 }, () => [0, 1, 2].map(() => 1 + below(random, 64)).join(' ')));
    return { 'output.tns': `3\n64 64 64\n${[...places].map((place) => `${place} ${(1 + random()).toFixed(3)}\n`).join('')}` };
  },
  tpacf: (random) => {
    // Right ascension and declination in degrees.
    const stars = (): string => lines(4096, () => `${(random() * 360).toFixed(5)} ${(random() * 180 - 90).toFixed(5)}`);
    return { 'made/stars': stars(), 'made/random.1': stars() };
  },
  voxelization: (random) => ({
    'data/test/points.bin': bytesOf(
      floats(20000 * 5, (i) => [random() * 100 - 50, random() * 100 - 50, random() * 8 - 5, random(), 0][i % 5]!),
    ),
  }),
};

/** Programs whose inputs are models, measurements or tables of others, so that none of ours would say anything. */
export const withoutInputs: ReadonlySet<string> = new Set([
  ...['bm3d', 'ced', 'cm', 'cmp', 'columnarSolver', 'egs', 'face', 'frna', 'grep'],
  ...['heartwall', 'local-ht', 'logic-resim', 'kmeans', 'lsqt', 'meanshift', 'minibude', 'minimap2', 'prna'],
  ...['resnet-kernels', 'rsmt', 'testSNAP', 'tgvnn', 'tsne'],
]);

/** Writes the inputs of a program that its folder lacks; whether it has any of ours. */
export function writeInputs(name: string, folder: string): boolean {
  const files = Object.entries(inputs[name]?.(randomNumbers(1)) ?? {});
  for (const [path, content] of files) {
    const at = join(folder, path);
    if (existsSync(at)) continue;
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, content);
  }
  return files.length > 0;
}
