/** NVRTC as a program calls it: its options, what is given to a compiler, and what comes back. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readNvrtcOptions } from '../../src/program/cudart/nvrtc-options.ts';
import { staticVariables } from '../../src/program/cudart/static-variables.ts';
import type { RuntimeSource } from '../../src/program/index.ts';
import { cBytes } from '../../src/program/memory.ts';
import { at, type Cuda, cuda } from '../support/program-runtime.ts';

const test = suite('program/nvrtc');

test('options are those of NVRTC', () => {
  const words = (...given: string[]) => readNvrtcOptions(given);
  assert.equal(words('-DA=1', '-D', 'B', '--define-macro=C=2', '-I/a', '--include-path=/b', '-I', '/c'), {
    words: ['-D', 'A=1', '-D', 'B', '-D', 'C=2', '-I', '/a', '-I', '/b', '-I', '/c'],
    isForDevice: false,
    isDeviceByDefault: false,
    hasSourceFolder: true,
  });
  assert.equal(
    words(
      '--gpu-architecture=sm_90a',
      '-default-device',
      '-std=c++17',
      '--fmad=false',
      '-G',
      '',
      '--maxrregcount=32',
      '-no-source-include',
    ),
    {
      words: ['-std', 'c++17', '-fmad', 'false'],
      isForDevice: true,
      isDeviceByDefault: true,
      hasSourceFolder: false,
    },
  );
  assert.equal(words('-arch', 'compute_75', '-dc'), {
    words: ['-dc'],
    isForDevice: false,
    isDeviceByDefault: false,
    hasSourceFolder: true,
  });
  assert.is(words('--nonsense'), 'unrecognized option --nonsense found');
  assert.is(words('-Gx'), 'unrecognized option -Gx found');
  assert.is(words('--gpu-architecture=80'), 'invalid value for --gpu-architecture (80)');
  assert.is(words('--fmad=maybe'), 'invalid value for -fmad (maybe)');
  assert.is(words('-I'), 'no value for option -I');
  assert.match(words('-dlto') as string, /^-dlto is refused/);
});

/** Puts texts behind each other, and a list of pointers to them. */
function putTexts({ memory }: Cuda, index: number, texts: readonly string[]): bigint {
  let place = index + 8 * texts.length;
  for (const [i, text] of texts.entries()) {
    memory.putU64(at(index + 8 * i), at(place));
    memory.put(at(place), cBytes(text));
    place += cBytes(text).length;
  }
  return at(index);
}
const firstOf = ({ memory }: Cuda, list: bigint): bigint => memory.u64(list)!;

/** A program with a header and two names; its handle. */
function created(one: Cuda): bigint {
  const { call, memory } = one;
  const headers = [putTexts(one, 2000, ['#define A 1']), putTexts(one, 2100, ['own/a.h'])] as const;
  const source = firstOf(one, putTexts(one, 2200, ['extern "C" __global__ void f() {}']));
  assert.is(call.nvrtcCreateProgram!(at(200), source, firstOf(one, putTexts(one, 2400, ['f.cu'])), 1, ...headers), 0);
  const program = memory.u64(at(200))!;
  for (const name of ['f<int>', ' &g']) assert.is(call.nvrtcAddNameExpression!(program, firstOf(one, putTexts(one, 2500, [name]))), 0);
  return program;
}

/** What a compiler makes of the names above. */
const made = `.visible .global .align 8 .u64 __cumetal_lowered_name_0 = _Z1fIiEvv;
.visible .entry f() { ret; }
.visible .const .align 8 .u64 __cumetal_lowered_name_1[1] = {generic(g)};
`;

// Expected: nvcc 13 has static variables by their own names: `.const .align 4 .b8 d_Data[16];`.
test('static variables are kept for the program, by the names that nvcc gives them', () => {
  const text = `// static __constant__ int no;
static __constant__ struct Option d_Data [ 4 ] [N];
__device__ static float scale = 1;
extern "C" {
static const __constant__ int inside{1};
}
static __device__ int helper(int a) { return a; }
namespace own {
  static __device__ int hidden;
}
__global__ void k() {
  static __device__ int local;
}
static __constant__ unsigned
  last;
`;
  assert.equal(staticVariables(text), ['d_Data', 'scale', 'inside', 'last']);
  let suffix = '';
  const one = cuda({
    compile(source) {
      suffix = source.suffix;
      return { ptx: '.visible .const .align 4 .b8 _ZL6d_Data[16];\nld.const.u32 %r1, [_ZL6d_Data];\n_ZL6d_DataX\n', log: '' };
    },
  });
  const { call, memory } = one;
  const source = firstOf(one, putTexts(one, 2200, ['static __constant__ int d_Data[4];']));
  assert.is(call.nvrtcCreateProgram!(at(200), source, 0n, 0, 0n, 0n), 0);
  const program = memory.u64(at(200))!;
  assert.is(call.nvrtcCompileProgram!(program, 0, 0n), 0);
  assert.match(suffix, /^\n[^\n]*= \(const void \*\)&d_Data;\n$/);
  assert.is(call.nvrtcGetPTX!(program, at(4000)), 0);
  assert.is(memory.cString(at(4000)), '.visible .const .align 4 .b8 d_Data[16];\nld.const.u32 %r1, [d_Data];\n_ZL6d_DataX\n');
});

test('a compiler gets the source, its headers, words of nvcc and a line for each name', () => {
  const sources: RuntimeSource[] = [];
  const one = cuda({
    compile(source) {
      sources.push(source);
      return { ptx: made, log: 'f.cu:1: warning' };
    },
  });
  const { call, memory } = one;
  const program = created(one);
  assert.is(call.nvrtcGetPTXSize!(program, at(300)), 4, 'before it is compiled');
  assert.is(call.nvrtcCompileProgram!(program, 2, putTexts(one, 3000, ['-DN=2', '-arch=sm_80'])), 0);
  const { suffix, headers, ...rest } = sources[0]!;
  assert.equal(rest, {
    name: 'f.cu',
    text: 'extern "C" __global__ void f() {}',
    words: ['-D', 'N=2'],
    isDeviceByDefault: false,
    hasSourceFolder: true,
  });
  assert.equal([...headers], [['own/a.h', '#define A 1']]);
  assert.match(suffix, /name_0 = \(const void \*\)&f<int>;\n.*name_1 = \(const void \*\)&g;\n$/);
  // The code is without the lines that were added, and has a zero byte behind it.
  const ptx = '.visible .entry f() { ret; }\n';
  for (const kind of ['PTX', 'CUBIN']) {
    assert.is(call[`nvrtcGet${kind}Size`]!(program, at(300)), 0);
    assert.is(memory.u64(at(300)), BigInt(ptx.length + 1), kind);
    assert.is(call[`nvrtcGet${kind}`]!(program, at(4000)), 0);
    assert.is(memory.cString(at(4000)), ptx);
  }
  assert.is(call.nvrtcGetProgramLog!(program, at(4000)), 0);
  assert.is(memory.cString(at(4000)), 'f.cu:1: warning');
  for (const [name, lowered] of [
    ['f<int>', '_Z1fIiEvv'],
    [' &g', 'g'],
  ]) {
    assert.is(call.nvrtcGetLoweredName!(program, firstOf(one, putTexts(one, 2500, [name!])), at(300)), 0);
    assert.is(memory.cString(memory.u64(at(300))!), lowered);
  }
  assert.is(call.nvrtcGetLoweredName!(program, firstOf(one, putTexts(one, 2500, ['h'])), at(300)), 10);
  assert.is(call.nvrtcAddNameExpression!(program, firstOf(one, putTexts(one, 2500, ['h']))), 8);
  assert.is(call.nvrtcDestroyProgram!(at(200)), 0);
  assert.equal([memory.u64(at(200)), call.nvrtcDestroyProgram!(at(200)), call.nvrtcGetPTXSize!(program, at(300))], [0n, 4, 4]);
});

test('errors of a compiler, and of a page, which has none, are in the log', () => {
  for (const [options, log] of [
    [{ compile: () => ({ ptx: undefined, log: 'f.cu:1:1: error: no' }) }, 'f.cu:1:1: error: no'],
    [{}, 'error: nothing compiles device code here while a program runs\n'],
  ] as const) {
    const one = cuda(options);
    const program = created(one);
    assert.is(one.call.nvrtcGetLoweredName!(program, firstOf(one, putTexts(one, 2500, ['f<int>'])), at(300)), 9);
    assert.is(one.call.nvrtcCompileProgram!(program, 0, 0n), 6);
    assert.is(one.call.nvrtcGetProgramLog!(program, at(4000)), 0);
    assert.is(one.memory.cString(at(4000)), log);
    assert.is(one.call.nvrtcGetPTX!(program, at(4000)), 4);
  }
});

test('names of headers stay in their folder, and texts are there', () => {
  const one = cuda();
  const source = firstOf(one, putTexts(one, 2200, ['']));
  for (const name of ['../a.h', '/etc/a.h', 'a/../../b.h', ''])
    assert.is(one.call.nvrtcCreateProgram!(at(200), source, 0n, 1, putTexts(one, 2000, ['']), putTexts(one, 2100, [name])), 3, name);
  assert.is(one.call.nvrtcCreateProgram!(at(200), 0n, 0n, 0, 0n, 0n), 3);
  assert.is(one.call.nvrtcCompileProgram!(0n, 0, 0n), 4);
  const text = one.call.nvrtcGetErrorString!(6) as unknown as bigint;
  assert.is(one.memory.cString(text), 'NVRTC_ERROR_COMPILATION');
});

test.run();
