/**
 * The words of nvcc that `cumetal cc` takes, in one table from which parsing, help and documentation derive.
 * Source: CUDA Compiler Driver NVCC, "NVCC Command Options".
 */

/** What a word does. `ignored` words change nothing here; `refused` ones ask for what there is not. */
export type Effect =
  | 'output'
  | 'compile'
  | 'compileRelocatable'
  | 'relocatable'
  | 'deviceLink'
  | 'ptx'
  | 'fatbin'
  | 'preprocess'
  | 'archive'
  | 'run'
  | 'language'
  | 'include'
  | 'preInclude'
  | 'define'
  | 'undefine'
  | 'standard'
  | 'libraryFolder'
  | 'library'
  | 'contraction'
  | 'hostWords'
  | 'dependencies'
  | 'dependenciesToo'
  | 'dependencyFile'
  | 'dependencyTarget'
  | 'optionsFile'
  | 'version'
  | 'verbose'
  | 'quiet'
  | 'dryRun'
  | 'shared'
  | 'forwardUnknown'
  | 'help'
  | 'ignored'
  | 'refused';

export interface Word {
  /** The spellings, with their dashes. */
  readonly names: readonly string[];
  /** The placeholder of the value; a flag has none. */
  readonly value?: string;
  /** The value may follow the name at once: `-Ifolder`. */
  readonly isJoined?: boolean;
  /** Several values, separated by commas. */
  readonly isList?: boolean;
  readonly effect: Effect;
  readonly doc: string;
}

const one = (effect: Effect, names: string, doc: string, more: Partial<Word> = {}): Word => ({
  names: names.split(' '),
  effect,
  doc,
  ...more,
});

const joined = { isJoined: true } as const;

export const words: readonly Word[] = [
  one('output', '-o --output-file', 'The file to write: `a.out` for a program, and the name of the source for others.', {
    value: 'FILE',
    ...joined,
  }),
  one('compile', '-c --compile', 'Compile each source to an object, and link nothing.'),
  one('compileRelocatable', '-dc --device-c', 'The same, with `-rdc=true`.'),
  one('ptx', '-ptx --ptx', 'Compile the device code of each `.cu` file to PTX.'),
  one('fatbin', '-fatbin --fatbin', 'The same for `cuModuleLoad`, which takes PTX where it takes fatbinaries.'),
  one('preprocess', '-E --preprocess', 'Print the preprocessed host code of each source.'),
  one('archive', '-lib --lib', 'Put the objects of all files into an archive.'),
  one('run', '-run --run', 'Run the program after it has been linked.'),
  one('language', '-x --x', 'The language of the sources that follow: `cu`, `c` or `c++`.', { value: 'LANGUAGE', ...joined }),
  one('include', '-I --include-path -isystem --system-include', 'A folder of headers.', { value: 'FOLDER', isList: true, ...joined }),
  one('preInclude', '-include --pre-include', 'A header in front of each source.', { value: 'FILE', isList: true }),
  one('define', '-D --define-macro', 'A macro.', { value: 'NAME[=VALUE]', isList: true, ...joined }),
  one('undefine', '-U --undefine-macro', 'A macro that is not defined.', { value: 'NAME', isList: true, ...joined }),
  one('standard', '-std --std', 'The language standard, such as `c++20`.', { value: 'STANDARD' }),
  one('libraryFolder', '-L --library-path', 'A folder of archives.', { value: 'FOLDER', isList: true, ...joined }),
  one('library', '-l --library', 'An archive in such a folder, or a library of CUDA.', { value: 'NAME', isList: true, ...joined }),
  one('contraction', '-fmad --fmad', '`false`: do not contract multiplications and additions to `fma`.', { value: 'true|false' }),
  one('hostWords', '-Xcompiler --compiler-options', 'Words for the host compiler: `-D`, `-U`, `-I` and `-std` are used, others ignored.', {
    value: 'WORDS',
    isList: true,
  }),
  one(
    'dependencies',
    '-M --generate-dependencies -MM --generate-nonsystem-dependencies',
    'Print the headers of each source as a rule of Make.',
  ),
  one(
    'dependenciesToo',
    '-MD -MMD -MP --generate-dependencies-with-compile --generate-nonsystem-dependencies-with-compile',
    'Write that rule to a file, and compile.',
  ),
  one('dependencyFile', '-MF --dependency-output', 'The file of the rule.', { value: 'FILE' }),
  one('dependencyTarget', '-MT -MQ --dependency-target-name', 'The target of the rule.', { value: 'NAME' }),
  one('optionsFile', '-optf --options-file', 'Files with more words, as in a command line; `@FILE` is the same.', {
    value: 'FILE',
    isList: true,
  }),
  one('quiet', '-w --disable-warnings', 'Print no warnings.'),
  one('verbose', '-v --verbose', 'Print the steps of a toolkit’s compiler, which CMake reads.'),
  one('dryRun', '-dryrun --dryrun', 'Print those steps, and do nothing.'),
  one(
    'forwardUnknown',
    '-forward-unknown-to-host-compiler --forward-unknown-to-host-compiler -forward-unknown-opts --forward-unknown-opts',
    'Unknown words are words for the host compiler.',
  ),
  one('deviceLink', '-dlink --device-link', 'Make an object without code: the program’s own link links device code as well.'),
  one('version', '-V --version', 'Print the version.'),
  one('help', '-h --help', 'Print this help.'),
  one('ignored', '-O --optimize -dopt --dopt', 'Code is always optimized.', { value: 'LEVEL', ...joined }),
  one('ignored', '-g --debug -G --device-debug -lineinfo --generate-line-info -pg --profile', 'Lines are always known.'),
  one('ignored', '-arch --gpu-architecture -code --gpu-code -gencode --generate-code -march', 'Device code is compiled for sm_80.', {
    value: 'ARCHITECTURE',
  }),
  one('ignored', '-use_fast_math --use_fast_math', 'Functions stay accurate, and subnormals are kept.'),
  one('ignored', '-ftz --ftz -prec-div --prec-div -prec-sqrt --prec-sqrt -extra-device-vectorization', 'Results stay exact.', {
    value: 'true|false',
  }),
  one(
    'ignored',
    '-Xptxas --ptxas-options -Xlinker --linker-options -Xarchive --archive-options -Xnvlink --nvlink-options',
    'Words for tools that are not used.',
    {
      value: 'WORDS',
      isList: true,
    },
  ),
  one(
    'relocatable',
    '-rdc --relocatable-device-code',
    '`true`: device code of several files is linked, so that each may use what another one defines.',
    {
      value: 'true|false',
    },
  ),
  one(
    'ignored',
    '-maxrregcount --maxrregcount -ccbin --compiler-bindir -cudart --cudart -cudadevrt --cudadevrt -t --threads -default-stream --default-stream -diag-suppress --diag-suppress -Werror --Werror -split-compile --split-compile -keep-dir --keep-dir -odir --output-directory -target-dir --target-directory -std-dir',
    'Accepted; what it asks for is so, or has no meaning here.',
    {
      value: 'VALUE',
    },
  ),
  one(
    'ignored',
    '-Wall -Wextra -Wno-deprecated-gpu-targets --Wno-deprecated-gpu-targets -Wno-deprecated-declarations -m64 --m64 -restrict --restrict -expt-relaxed-constexpr --expt-relaxed-constexpr -expt-extended-lambda --expt-extended-lambda -extended-lambda --extended-lambda -lto --lto -dlto --dlto -k -keep --keep -save-temps --save-temps -time --time -res-usage --resource-usage -no-align-double -fno-strict-aliasing -pthread -fopenmp -fPIC -static -s',
    'Accepted; what it asks for is so, or has no meaning here.',
  ),
  one('shared', '-shared --shared', 'Refused: shared libraries are not made. Link the program with objects and archives.'),
  one('refused', '-cubin --cubin -optix-ir --optix-ir', 'Machine code of NVIDIA GPUs is not made; `-ptx` is.'),
  one('refused', '-m32 --m32', 'Pointers have 64 bits.'),
];

/** What a C++ compiler's word of the same spelling does too. Its other words are about another machine, and change nothing. */
const hostEffects: ReadonlySet<Effect> = new Set([
  ...(['output', 'compile', 'preprocess', 'archive', 'language', 'include', 'preInclude', 'define', 'undefine', 'standard'] as const),
  ...(['libraryFolder', 'library', 'dependencies', 'dependenciesToo', 'dependencyFile', 'dependencyTarget'] as const),
  ...(['version', 'help', 'shared', 'verbose', 'quiet'] as const),
]);
/** The spellings that are not those of a C++ compiler. */
const ofNvcc = new Set(['-lib', '-dc', '-V', '-h', '-run']);

/** The words of a C++ compiler: those of the table that it has, and words that take the next one and are ignored. */
export const hostWords: readonly Word[] = [
  ...words
    .filter(({ effect }) => hostEffects.has(effect))
    .map((word) => ({ ...word, isList: false, names: word.names.filter((name) => !ofNvcc.has(name)) })),
  one('include', '-iquote -idirafter', '', { value: 'FOLDER', ...joined }),
  one('contraction', '-ffp-contract', '', { value: 'fast|off' }),
  one('ignored', '-Xlinker -Xclang -Xassembler -mllvm -target -arch -isysroot --sysroot -u -z -T -framework -imacros -aux-info', '', {
    value: 'WORD',
  }),
];
