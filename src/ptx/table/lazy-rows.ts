/**
 * The row files that are loaded lazily, on first use of one of their opcodes, because most programs use few of them. `index.ts` takes the
 * opcodes from here. `scripts/bundle.ts` bundles each of these files separately; it fails if a file does not export the named function, and
 * if a file that is not listed exports its rows as a function.
 */

/** A lazily loaded part of the table. */
export interface LazyRows {
  /** The files below `src/ptx/table`, each with the function that returns its rows. */
  readonly files: Readonly<Record<string, string>>;
  /** All opcodes of these rows, separated by spaces. No other row has one of them, except refused rows. */
  readonly opcodes: string;
}

const packedVideo = ['vadd', 'vsub', 'vavrg', 'vabsdiff', 'vmin', 'vmax', 'vset'].map((name) => `${name}2 ${name}4`).join(' ');

export const lazyRows = {
  bits: {
    files: { 'bits.ts': 'bitRows' },
    opcodes: 'popc clz bfind brev bfe bfi szext bmsk fns sad mul24 mad24 dp4a dp2a lop3 shf prmt slct copysign testp',
  },
  hints: { files: { 'hints.ts': 'hintRows' }, opcodes: 'prefetch prefetchu applypriority' },
  asyncCopies: { files: { 'async-copy.ts': 'asyncCopyRows' }, opcodes: 'cp' },
  atomics: { files: { 'atomic.ts': 'atomicRows', 'atomic-half.ts': 'halfAtomicRows' }, opcodes: 'atom red' },
  wmma: { files: { 'matrix/wmma.ts': 'wmmaRows' }, opcodes: 'wmma' },
  mma: { files: { 'matrix/mma.ts': 'mmaRows' }, opcodes: 'mma' },
  tiles: { files: { 'matrix/tiles.ts': 'tileRows' }, opcodes: 'ldmatrix stmatrix movmatrix' },
  fences: { files: { 'fence.ts': 'fenceRows' }, opcodes: 'membar fence' },
  video: { files: { 'video.ts': 'videoRows' }, opcodes: packedVideo },
} as const satisfies Record<string, LazyRows>;

/** Refused rows share opcodes with compiled ones; the whole file is loaded once when no compiled row matches. */
export const refusedFiles = { 'refused/index.ts': 'refusedRows' } as const;

/** Every lazily loaded file below `src/ptx/table`, with the function that returns its rows. */
export const lazyFiles: Readonly<Record<string, string>> = Object.assign(
  {},
  refusedFiles,
  ...Object.values(lazyRows).map(({ files }) => files),
);
