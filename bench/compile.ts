/** `cumetal build` against `ptxas`: kernels of usual size, or with `--large FOLDER` the largest files of a folder. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { againstPtxas, installedProgram, root, type Usage, usageOf } from './cold.ts';
import { type Bench, geomean, median, type Row } from './report.ts';

/** Kernels of usual size, 12 to 28 KB, and small ones. */
const kernels = ['nbody', 'matmul_regs', 'blur17', 'layernorm', 'quantised_dot'].map((name) => `bench/kernels/${name}.ptx`);
const files = [...kernels, 'examples/median.ptx', 'examples/vector_add.ptx'];
const rounds = 15;

/** Nothing where ptxas is not installed. */
export function compile(words: readonly string[]): Bench | undefined {
  const folder = words[words.indexOf('--large') + 1];
  return words.includes('--large') && folder !== undefined ? compileLarge(folder) : compileUsual();
}

/** How a text is built: by a process of its own, by the helper, and for a text that the compile cache has. */
const ways = {
  cold: { CUMETAL_CACHE_DISABLE: '1', CUMETAL_HELPER: '0' },
  helper: { CUMETAL_CACHE_DISABLE: '1', CUMETAL_HELPER: '1' },
  again: { CUMETAL_CACHE_DISABLE: '0', CUMETAL_HELPER: '0' },
} as const;

type Way = keyof typeof ways;
const wayNames = Object.keys(ways) as Way[];

/** Builds by the helper before it is measured. It repeats the first one while it is idle, too. */
const helperBuilds = 10 * files.length;

function compileUsual(): Bench | undefined {
  const clocks: Record<Way, number[]> = { cold: [], helper: [], again: [] };
  const rows = againstPtxas((folder) => {
    const tool = new Tool(folder);
    try {
      for (let i = 0; i < helperBuilds; i++) tool.build(files[i % files.length]!, 'helper');
      return files.flatMap((file) => rowsOf(tool, file, clocks));
    } finally {
      tool.stopHelper();
    }
  });
  const of = (way: Way): number[] => rows!.filter(({ name }) => name.endsWith(`, ${way}`)).map(({ ratio }) => ratio);
  return (
    rows && {
      bench: 'compile',
      about: `cumetal build against ptxas -arch=sm_80, processor time of whole processes and the helper's, mean of ${rounds} rounds`,
      rows,
      isMixed: true,
      bars: wayNames.flatMap((way) => [
        { name: `geometric mean, ${way}`, value: geomean(of(way)), bar: 1 },
        { name: `geometric mean of clocks, ${way}`, value: geomean(clocks[way]), bar: 1 },
      ]),
    }
  );
}

/** The program and its helper, in a folder that has the cache too. */
class Tool {
  readonly #folder: string;
  readonly #program: string;
  constructor(folder: string) {
    this.#folder = folder;
    this.#program = installedProgram(folder);
    this.build(files[0]!, 'helper');
    for (let i = 0; i < 200 && this.helperCpuMs() === undefined; i++) Bun.sleepSync(50);
  }

  build(file: string, way: Way): Usage {
    const output = join(this.#folder, 'out.metallib');
    return this.#run([this.#program, 'build', join(root, file), '-o', output], ways[way]);
  }

  ptxas(file: string): Usage {
    return this.#run(['ptxas', '-arch=sm_80', join(root, file), '-o', join(this.#folder, 'out.cubin')], {});
  }

  #run(command: readonly string[], env: Readonly<Record<string, string>>): Usage {
    const usage = usageOf(command, { ...env, CUMETAL_CACHE_PATH: join(this.#folder, 'cache') });
    if (!usage) throw new Error(command.join(' '));
    return usage;
  }

  /** Milliseconds of processor time that the helper has taken; undefined where none runs. */
  helperCpuMs(): number | undefined {
    const seconds = / ([\d.]+) s of processor time/.exec(this.#helper('status'))?.[1];
    return seconds === undefined ? undefined : Number(seconds) * 1000;
  }

  stopHelper(): void {
    this.#helper('stop');
  }

  #helper(word: string): string {
    const env = { ...process.env, CUMETAL_CACHE_PATH: join(this.#folder, 'cache') };
    return Bun.spawnSync([this.#program, 'helper', word], { env }).stdout.toString();
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** A row for each way; the ratios of clocks are added to `clocks`. */
function rowsOf(tool: Tool, file: string, clocks: Record<Way, number[]>): Row[] {
  tool.build(file, 'again');
  const taken: Record<Way | 'ptxas', Usage[]> = { ptxas: [], cold: [], helper: [], again: [] };
  const helperBefore = tool.helperCpuMs() ?? Number.NaN;
  for (let round = 0; round < rounds; round++) {
    taken.ptxas.push(tool.ptxas(file));
    for (const way of wayNames) taken[way].push(tool.build(file, way));
  }
  const helperMs = ((tool.helperCpuMs() ?? Number.NaN) - helperBefore) / rounds;
  const other = mean(taken.ptxas.map(({ cpuMs }) => cpuMs));
  const clock = (of: readonly Usage[]): number => median(of.map(({ ms }) => ms));
  return wayNames.map((way) => {
    const ours = mean(taken[way].map(({ cpuMs }) => cpuMs)) + (way === 'helper' ? helperMs : 0);
    clocks[way].push(clock(taken.ptxas) / clock(taken[way]));
    return { name: `${basename(file)}, ${way}`, ours, other, unit: 'ms', ratio: other / ours };
  });
}

/** Files of a large comparison, and rounds of each. */
const [largest, largeRounds] = [10, 3];

/** What a build may have in memory: bytes, and those for each byte of the output. */
const [memory, memoryOfOutput] = [400e6, 2];

/** Processor time, time on a clock and memory for the largest files that both compile, with one process. */
function compileLarge(from: string): Bench | undefined {
  const found: LargeFile[] = [];
  const rows = againstPtxas((folder) => {
    const paths = readdirSync(from)
      .filter((name) => name.endsWith('.ptx'))
      .map((name) => join(from, name));
    const program = installedProgram(folder);
    for (const path of paths.sort((a, b) => statSync(b).size - statSync(a).size)) {
      if (found.length === largest) break;
      const file = measureLarge(path, program, folder);
      if (file) found.push(file);
    }
    return found.flatMap(rowsOfLarge);
  });
  const least = (of: (usage: Usage) => number): number => Math.min(...found.map(({ ours, other }) => of(other) / of(ours)));
  const share = Math.max(...found.map(({ ours, outputBytes }) => ours.maxBytes / (memory + memoryOfOutput * outputBytes)));
  return (
    rows && {
      bench: 'compile',
      about: `cumetal build -j 1 against ptxas, the largest files of ${from}, least of ${largeRounds} rounds in turns`,
      rows,
      isMixed: true,
      bars: [
        { name: 'least ratio of processor time', value: least(({ cpuMs }) => cpuMs), bar: 1 },
        { name: 'least ratio of clocks', value: least(({ ms }) => ms), bar: 1 },
        { name: `most memory, of 400 MB and ${memoryOfOutput} times the output`, value: share, bar: 1, isMost: true },
      ],
    }
  );
}

/** What both take for a large file. */
interface LargeFile {
  readonly name: string;
  readonly ours: Usage;
  readonly other: Usage;
  readonly outputBytes: number;
}

/** Nothing for a file that one of them does not compile. */
function measureLarge(path: string, program: string, folder: string): LargeFile | undefined {
  const arch = /^\.target\s+(sm_[89]\w+|sm_1[0-9]\d\w*)/m.exec(readFileSync(path, 'utf8').slice(0, 65536))?.[1] ?? 'sm_80';
  const output = join(folder, 'out.metallib');
  const [ours, others]: [Usage[], Usage[]] = [[], []];
  for (let round = 0; round < largeRounds; round++) {
    const other = usageOf(['ptxas', `-arch=${arch}`, path, '-o', join(folder, 'out.cubin')]);
    const own = other && usageOf([program, 'build', path, '-j', '1', '-o', output], ways.cold);
    if (!own) return undefined;
    ours.push(own);
    others.push(other);
  }
  return { name: basename(path), ours: leastOf(ours), other: leastOf(others), outputBytes: statSync(output).size };
}

/** The least times, which others on the machine disturbed the least, and the most memory. */
const leastOf = (of: readonly Usage[]): Usage => ({
  cpuMs: Math.min(...of.map(({ cpuMs }) => cpuMs)),
  ms: Math.min(...of.map(({ ms }) => ms)),
  maxBytes: Math.max(...of.map(({ maxBytes }) => maxBytes)),
});

function rowsOfLarge({ name, ours, other }: LargeFile): Row[] {
  const [mb, otherMb] = [ours, other].map(({ maxBytes }) => (maxBytes / 1e6).toFixed(0));
  return [
    { name: `${name} (memory ${mb} and ${otherMb} MB)`, ours: ours.cpuMs, other: other.cpuMs, unit: 'ms', ratio: other.cpuMs / ours.cpuMs },
    { name: `${name}, clock`, ours: ours.ms, other: other.ms, unit: 'ms', ratio: other.ms / ours.ms },
  ];
}
