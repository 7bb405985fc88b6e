/** What a file is that is neither PTX nor a library nor a container of PTX, and what to do with it. */

export interface FileKind {
  /** A noun phrase with its article. */
  readonly what: string;
  /** An imperative sentence; `{path}` is the path of the file. */
  readonly help: string;
}

interface Magic extends FileKind {
  readonly bytes: readonly number[];
  readonly at?: number;
}

const ascii = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));
const unpack = 'unpack it, and pass the file inside';
const compile = 'compile it to PTX: `nvcc -ptx -arch=sm_80`';
const image = 'PTX is text; `nvcc -ptx` writes it';
const argument = 'pass it as an argument of a kernel: `--arg f32@{path}`';

/** Source: the signatures of the formats' own specifications, most of them in the list of file(1). */
const magics: readonly Magic[] = [
  { bytes: [0x93, ...ascii('NUMPY')], what: 'a NumPy array', help: argument },
  { bytes: [0x50, 0x4b, 0x03, 0x04], what: 'a zip archive', help: unpack },
  { bytes: [0x50, 0x4b, 0x05, 0x06], what: 'an empty zip archive', help: unpack },
  { bytes: [0x1f, 0x8b], what: 'gzip data', help: 'unpack it: `gunzip {path}`' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], what: 'Zstandard data', help: 'unpack it: `zstd -d {path}`' },
  { bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a], what: 'xz data', help: 'unpack it: `unxz {path}`' },
  { bytes: ascii('BZh'), what: 'bzip2 data', help: 'unpack it: `bunzip2 {path}`' },
  { bytes: ascii('ustar'), at: 257, what: 'a tar archive', help: unpack },
  { bytes: ascii('!<arch>\n'), what: 'a static library', help: 'extract its object files, and pass one of them: `ar x {path}`' },
  { bytes: [0xcf, 0xfa, 0xed, 0xfe], what: 'a Mach-O file', help: 'macOS programs contain no PTX; pass the `.metallib` or the PTX itself' },
  {
    bytes: [0xca, 0xfe, 0xba, 0xbe],
    what: 'a universal Mach-O file',
    help: 'macOS programs contain no PTX; pass the `.metallib` or the PTX itself',
  },
  { bytes: ascii('MZ'), what: 'a Windows program', help: 'print its PTX with `cuobjdump -ptx {path}`' },
  { bytes: [0x00, 0x61, 0x73, 0x6d], what: 'a WebAssembly module', help: 'pass the PTX that it was made from' },
  { bytes: [0x03, 0x02, 0x23, 0x07], what: 'a SPIR-V module', help: image },
  { bytes: ascii('DXBC'), what: 'a DirectX shader', help: image },
  { bytes: [0x89, ...ascii('PNG')], what: 'a PNG image', help: image },
  { bytes: [0xff, 0xd8, 0xff], what: 'a JPEG image', help: image },
  { bytes: ascii('GIF8'), what: 'a GIF image', help: image },
  { bytes: ascii('%PDF'), what: 'a PDF document', help: image },
  { bytes: ascii('P5\n'), what: 'a PGM image', help: argument.replace('f32', 'u8') },
  { bytes: [0x89, ...ascii('HDF')], what: 'an HDF5 file', help: 'save one array as `.npy`, and pass it as an argument' },
  { bytes: ascii('SQLite format 3'), what: 'an SQLite database', help: image },
  { bytes: [0xff, 0xfe], what: 'UTF-16 text', help: 'save it as UTF-8' },
  { bytes: [0xfe, 0xff], what: 'UTF-16 text', help: 'save it as UTF-8' },
];

/** The kind of a file that cannot be PTX; undefined for text that may be. */
export function foreignKind(path: string, bytes: Uint8Array): FileKind | undefined {
  if (bytes.length === 0) return { what: 'an empty file', help: image };
  const found = magics.find(({ bytes: magic, at = 0 }) => magic.every((byte, i) => bytes[at + i] === byte));
  if (found) return isNpz(path, bytes) ? npz : found;
  // PTX is text, also if a comment has other letters.
  if (bytes.subarray(0, 4096).includes(0)) return { what: 'a binary file of an unknown format', help: image };
  return textKind(path, new TextDecoder().decode(bytes.subarray(0, 1 << 16)));
}

const npz: FileKind = {
  what: 'a NumPy archive of several arrays',
  help: 'save one of them with `numpy.save`, and pass it as an argument of a kernel: `--arg f32@FILE.npy`',
};

const isNpz = (path: string, bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && (/\.npz$/i.test(path) || new TextDecoder('latin1').decode(bytes.subarray(30, 286)).includes('.npy'));

interface TextRule extends FileKind {
  readonly path: RegExp;
  /** A line that only such a text has. */
  readonly line: RegExp;
}

const sources: readonly TextRule[] = [
  {
    path: /\.metal$/,
    line: /^\s*#include\s*<metal_|^\s*using namespace metal;/m,
    what: 'Metal source',
    help: 'compile it on a Mac: `xcrun metal {path} -o kernel.metallib`, and pass the library',
  },
  {
    path: /\.(cl|clcpp)$/,
    line: /^\s*(__)?kernel void /m,
    what: 'OpenCL source',
    help: 'compile it to PTX: `clang -target nvptx64 -S -x cl`',
  },
  {
    path: /\.(cc|cpp|cxx|c|h|hpp|hh|cuh)$/,
    line: /^\s*#\s*(include|define|pragma|ifdef|ifndef)\b|\b__global__\b|^\s*extern "C"/m,
    what: 'C++ source',
    help: `${compile}; a \`.cu\` file is compiled here if nvcc or clang is installed`,
  },
  {
    path: /\.py$/,
    line: /^\s*(import \w+|from \w+ import |def \w+\(.*\):)/m,
    what: 'Python source',
    help: 'save the PTX of the kernel: Triton has it in `kernel.asm["ptx"]`, Numba in `kernel.inspect_asm()`',
  },
  {
    path: /\.sass$/,
    line: /^\s*\/\*[0-9a-f]{4}\*\/|^\s*Function : |^Fatbin elf code:/m,
    what: 'a listing of SASS',
    help: 'SASS is the machine code of one GPU; print the PTX instead: `cuobjdump -ptx`',
  },
  { path: /\.sh$/, line: /^#!/, what: 'a script', help: image },
  { path: /\.json$/, line: /^\s*[{[]/, what: 'JSON', help: 'a launch file follows `--launch`: `cumetal run --launch {path}`' },
  { path: /\.(html?|xml|svg)$/, line: /^\s*<(!doctype|\?xml|html|svg)/i, what: 'a page', help: image },
];

/** Text of another language, by its first lines; any text with a `.version` is PTX. */
function textKind(path: string, text: string): FileKind | undefined {
  if (/^\s*(\/\*[\s\S]*?\*\/\s*)*\.version\b/m.test(text)) return undefined;
  return sources.find(({ line }) => line.test(text)) ?? sources.find((rule) => rule.path.test(path));
}
