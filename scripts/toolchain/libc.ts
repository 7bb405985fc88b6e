/**
 * wasi-libc for 64-bit pointers: its headers and its C files. What the Makefile of the package lists is listed here; what it says of 32 bits is
 * changed in memory, each change by exact text, so that another version of the package fails instead of building something else.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Tree, treeOf } from './clang.ts';

/** One file to compile. */
export interface Unit {
  /** Path in the source package. */
  readonly path: string;
  readonly flags: readonly string[];
}

const musl = 'libc-top-half/musl';

/** Files of musl's `src` by folder: all but those named, or only those named. */
const ofMusl: Readonly<Record<string, { readonly all: string } | { readonly only: string }>> = {
  misc: { only: 'a64l basename dirname ffs ffsl ffsll fmtmsg getdomainname gethostid getopt getopt_long getsubopt uname nftw' },
  errno: { only: 'strerror' },
  network: { only: 'htonl htons ntohl ntohs inet_ntop inet_pton inet_aton in6addr_any in6addr_loopback' },
  fenv: { only: 'fenv fesetround feupdateenv fesetexceptflag fegetexceptflag feholdexcept' },
  exit: { only: 'exit atexit assert quick_exit at_quick_exit' },
  time: {
    only: `strftime asctime asctime_r ctime ctime_r wcsftime strptime difftime timegm ftime gmtime gmtime_r timespec_get getdate localtime
      localtime_r mktime __tm_to_secs __month_to_secs __secs_to_tm __year_to_secs __tz`,
  },
  fcntl: { only: 'creat' },
  dirent: { only: 'alphasort versionsort' },
  env: { only: 'clearenv getenv putenv setenv unsetenv' },
  unistd: { only: 'posix_close' },
  stat: { only: 'futimesat' },
  internal: { all: 'procfdname syscall syscall_ret vdso version' },
  stdio: { all: 'flockfile funlockfile __lockfile ftrylockfile rename tmpnam tmpfile tempnam popen pclose remove gets' },
  // Strings of signals are built below, with the signals' names.
  string: { all: 'strsignal' },
  locale: { all: 'dcngettext textdomain bind_textdomain_codeset' },
  stdlib: { all: '' },
  search: { all: '' },
  multibyte: { all: '' },
  regex: { all: '' },
  prng: { all: '' },
  conf: { all: '' },
  ctype: { all: '' },
  // WebAssembly has instructions of these.
  math: {
    all: `__signbit __signbitf __signbitl __fpclassify __fpclassifyf __fpclassifyl ceilf ceil floorf floor truncf trunc rintf rint nearbyintf
      nearbyint sqrtf sqrt fabsf fabs copysignf copysign fminf fmaxf fmin fmax`,
  },
  complex: { all: 'crealf creal creall cimagf cimag cimagl' },
  crypt: { all: '' },
};

/** What emulates functions of POSIX that WASI lacks; all of it is part of our libc, because the sources say themselves what they emulate. */
const emulated = ['mman', 'clocks', 'getpid', 'signal'].map((name) => `libc-bottom-half/${name}`);

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** What user code is compiled with as well. */
export const emulation = words('-D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_PROCESS_CLOCKS');
const emulatedFlags = [...emulation, '-I/src/libc-bottom-half/cloudlibc/src'];

/** All C files below a folder, in order. */
const below = (root: string, folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.c'))
    .map((name) => `${folder}/${name}`)
    .sort();

const bottomFlags = [
  '-I/src/libc-bottom-half/headers/private',
  '-I/src/libc-bottom-half/cloudlibc/src/include',
  '-I/src/libc-bottom-half/cloudlibc/src',
];
const topFlags = ['src/include', 'src/internal', 'arch/wasm32', 'arch/generic'].map((folder) => `-I/src/${musl}/${folder}`);
topFlags.push('-I/src/libc-top-half/headers/private');

/** Every file of libc. */
export function libcUnits(root: string): Unit[] {
  const top = Object.entries(ofMusl).flatMap(([folder, which]) => {
    const all = below(root, `${musl}/src/${folder}`).filter((path) => path.split('/').length === musl.split('/').length + 3);
    const named = new Set(words('only' in which ? which.only : which.all).map((name) => `${musl}/src/${folder}/${name}.c`));
    return all.filter((path) => named.has(path) === 'only' in which);
  });
  const bottom = ['libc-bottom-half/cloudlibc/src', 'libc-bottom-half/sources']
    .flatMap((folder) => below(root, folder))
    // `runtime/process.c` has it, so that the program ends as by the signal.
    .filter((path) => !path.endsWith('/abort.c'));
  const signalTexts = [`${musl}/src/signal/psignal.c`, `${musl}/src/string/strsignal.c`];
  const topHalf = [...top, ...below(root, 'libc-top-half/sources'), ...signalTexts];
  return [
    { path: 'dlmalloc/src/dlmalloc.c', flags: ['-I/src/dlmalloc/include'] },
    ...bottom.map((path) => ({ path, flags: bottomFlags })),
    ...topHalf.map((path) => ({ path, flags: [...topFlags, '-D_WASI_EMULATED_SIGNAL'] })),
    ...emulated.flatMap((folder) => below(root, folder).map((path) => ({ path, flags: emulatedFlags }))),
  ];
}

/** Headers of musl that WASI has nothing for, or that clang has itself. */
const withoutHeaders =
  words(`bits/syscall.h.in bits/alltypes.h.in alltypes.h.in stdarg.h stddef.h bits/errno.h sys/procfs.h sys/user.h sys/kd.h
  sys/vt.h sys/soundcard.h sys/sem.h sys/shm.h sys/msg.h sys/ipc.h sys/ptrace.h sys/statfs.h bits/kd.h bits/vt.h bits/soundcard.h bits/sem.h
  bits/shm.h bits/msg.h bits/ipc.h bits/ptrace.h bits/statfs.h sys/vfs.h syslog.h sys/syslog.h ucontext.h
  sys/ucontext.h paths.h utmp.h utmpx.h lastlog.h sys/acct.h sys/cachectl.h sys/epoll.h sys/reboot.h sys/swap.h sys/sendfile.h sys/inotify.h
  sys/quota.h sys/klog.h sys/fsuid.h sys/io.h sys/prctl.h sys/mtio.h sys/mount.h sys/fanotify.h sys/personality.h elf.h link.h bits/link.h
  scsi/scsi.h scsi/scsi_ioctl.h scsi/sg.h sys/auxv.h pwd.h shadow.h grp.h mntent.h netdb.h resolv.h pty.h dlfcn.h ulimit.h sys/xattr.h
  wordexp.h spawn.h sys/membarrier.h sys/signalfd.h termios.h sys/termios.h bits/termios.h net/if.h net/if_arp.h net/ethernet.h net/route.h
  netinet/if_ether.h netinet/ether.h sys/timerfd.h libintl.h sys/sysmacros.h aio.h`);

type Change = readonly [from: string | RegExp, to: string];

/** What the package says of 32-bit pointers, by file. */
const changes: Readonly<Record<string, readonly Change[]>> = {
  // As on 64-bit Linux, for which CUDA programs are written.
  'libc-top-half/musl/arch/wasm32/bits/alltypes.h.in': [[/^(#define _(?:Int64|Reg) long) long/gm, '$1']],
  'libc-top-half/musl/arch/wasm32/bits/stdint.h': [
    [/^(#define U?INTPTR_M\w+ +U?INT)32/gm, '$164'],
    [/^(#define PTRDIFF_M\w+ +INT)32/gm, '$164'],
    ['SIZE_MAX        UINT32_MAX', 'SIZE_MAX        UINT64_MAX'],
  ],
  'libc-top-half/musl/arch/wasm32/bits/posix.h': [[/ILP32_OFFBIG/g, 'LP64_OFF64']],
  // `runtime/absent.c` has these, which fail: libc++ names them.
  'libc-top-half/musl/include/sys/stat.h': [['#ifdef __wasilibc_unmodified_upstream /* WASI has no chmod */', '#if 1']],
  'libc-top-half/musl/include/stdlib.h': [
    [/#ifdef __wasilibc_unmodified_upstream.*\n(?=char \*realpath)/, '#if 1\n'],
    [/#ifdef __wasilibc_unmodified_upstream (\/\* WASI has no (?:wait|temp directories) \*\/)/g, '#if 1 $1'],
    // As that of GNU: programs rely on `uint` and others.
    [
      '#include <bits/alltypes.h>\n',
      '#include <bits/alltypes.h>\n#if defined(_GNU_SOURCE) || defined(_BSD_SOURCE)\n#include <sys/types.h>\n#endif\n',
    ],
  ],
  // `runtime/process.c` has these: most fail, and say so.
  'libc-top-half/musl/include/unistd.h': [
    [
      /#ifdef __wasilibc_unmodified_upstream (\/\* WASI has no (?:pipe|fchdir|fork\/exec|getuid etc\.|processes|getpid etc\.) \*\/)/g,
      '#if 1 $1',
    ],
  ],
  // `runtime/setjmp.c` has what calls of these become; no masks of signals are kept.
  'libc-top-half/musl/include/setjmp.h': [
    ['#ifdef __wasilibc_unmodified_upstream /* WASI has no setjmp */', '#if 1'],
    ['#include <bits/setjmp.h>', 'typedef unsigned long __jmp_buf[8];'],
    [
      '#define setjmp setjmp\n',
      `#define setjmp setjmp
#define _setjmp setjmp
#define _longjmp longjmp
#define sigsetjmp(buffer, mask) setjmp(buffer)
#define siglongjmp longjmp
`,
    ],
  ],
  // Programs with sources of GNU's library in them look for this, and leave those out.
  'libc-top-half/musl/include/features.h': [['#define _FEATURES_H\n', '#define _FEATURES_H\n#define __GNU_LIBRARY__ 6\n']],
  // Callers may leave out where the other offset goes.
  'libc-top-half/musl/src/time/__tz.c': [['\t*oppoff = 0;', '\tif (oppoff) *oppoff = 0;']],
  'libc-top-half/musl/include/stdio.h': [['#ifdef __wasilibc_unmodified_upstream /* WASI has no popen */', '#if 1']],
  'libc-top-half/musl/include/sys/wait.h': [['int waitid (idtype_t, id_t, siginfo_t *, int);\n', '']],
  // Not every source of the library has `pid_t` here.
  'libc-top-half/musl/include/signal.h': [
    [/(#ifdef __wasilibc_unmodified_upstream .*\n)int kill\(pid_t, int\);\n/, 'int kill(int, int);\n$1'],
  ],
  // `runtime/malloc.c` has these.
  'libc-top-half/musl/include/malloc.h': [
    ["#ifdef __wasilibc_unmodified_upstream /* WASI libc doesn't build the legacy functions */", '#if 1'],
  ],
  // The fields of Linux; the runtime knows the size of the memory.
  'libc-bottom-half/headers/public/__struct_rusage.h': [
    [
      '    struct timeval ru_stime;\n',
      `    struct timeval ru_stime;\n    long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock, ru_oublock;
    long ru_msgsnd, ru_msgrcv, ru_nsignals, ru_nvcsw, ru_nivcsw;\n`,
    ],
  ],
  'libc-bottom-half/clocks/getrusage.c': [
    ['timestamp_to_timeval(usertime)\n', 'timestamp_to_timeval(usertime),\n .ru_maxrss = __builtin_wasm_memory_size(0) * 64\n'],
  ],
  // `runtime/process.c` has these.
  'libc-top-half/musl/include/sys/resource.h': [
    [
      '#include <bits/resource.h>\n',
      `#include <bits/resource.h>
typedef unsigned long long rlim_t;
struct rlimit { rlim_t rlim_cur, rlim_max; };
int getrlimit(int, struct rlimit *);
int setrlimit(int, const struct rlimit *);
#define RLIM_INFINITY (~0ULL)
${words('CPU FSIZE DATA STACK CORE RSS NPROC NOFILE MEMLOCK AS')
  .map((name, i) => `#define RLIMIT_${name} ${i}\n`)
  .join('')}`,
    ],
  ],
  // Clocks of Linux that differ from others in what they cost.
  'libc-bottom-half/headers/public/__header_time.h': [
    [
      'extern const struct __clockid _CLOCK_REALTIME;\n',
      '#define CLOCK_MONOTONIC_RAW CLOCK_MONOTONIC\n#define CLOCK_MONOTONIC_COARSE CLOCK_MONOTONIC\n#define CLOCK_BOOTTIME CLOCK_MONOTONIC\n' +
        '#define CLOCK_REALTIME_COARSE CLOCK_REALTIME\nextern const struct __clockid _CLOCK_REALTIME;\n',
    ],
  ],
  // Types as those of the functions in `runtime/pthread.c`.
  'libc-top-half/musl/include/pthread.h': [['#if defined(__wasilibc_unmodified_upstream) || defined(_REENTRANT)', '#if 1']],
  ...Object.fromEntries(
    words('time_t off_t ino_t dev_t nlink_t blkcnt_t suseconds_t clock_t').map((name) => [
      `libc-bottom-half/headers/public/__typedef_${name}.h`,
      [['long long', 'long']],
    ]),
  ),
  'libc-bottom-half/headers/public/wasi/api.h': [
    [/^#error .* only supports wasm32.*\n/m, ''],
    // The layouts of 32 bits; those of 64 follow from the declarations, and the table of the runtime has them.
    [/^_Static_assert\(.*(void\*|__wasi_(size|iovec|ciovec|prestat)(_\w+)?_t).*\n/gm, ''],
  ],
};

/** An exchange of pointers, which musl leaves to the processor where they have 64 bits. */
const exchangeOfPointers = `
#define a_cas_p a_cas_p
static inline void *a_cas_p(volatile void *p, void *t, void *s) {
  void *old = *(void *volatile *)p;
  if (old == t) *(void *volatile *)p = s;
  return old;
}
`;

/** Every argument of an import is a number of 64 bits, so that no pointer is cut: the runtime refuses what lies outside memory. */
const importChanges: readonly Change[] = [
  [/\bint32_t arg(\d+)/g, 'int64_t arg$1'],
  [/\(int32_t\) (?=[a-z&(])/g, '(int64_t) '],
];

function changed(text: string, list: readonly Change[], path: string): string {
  let now = text;
  for (const [from, to] of list) {
    const next = now.replace(from, to);
    if (next === now) throw new Error(`${path} does not say ${from}`);
    now = next;
  }
  return now;
}

/** Has every header below a folder include the installed one of its name, where it names its path. */
function throughNext(folder: Tree): void {
  for (const [name, entry] of Object.entries(folder)) {
    if (entry instanceof Uint8Array)
      change(folder, name, (text) => text.replace(/#include "(?:\.\.\/)+include\/([^"]+)"/g, '#include_next <$1>'));
    else if (typeof entry !== 'string') throughNext(entry);
  }
}

/** Changes files of a tree by path. */
function change(tree: Tree, path: string, how: (text: string) => string): void {
  const parts = path.split('/');
  let folder = tree;
  for (const part of parts.slice(0, -1)) folder = folder[part] as Tree;
  const name = parts.at(-1)!;
  folder[name] = new TextEncoder().encode(how(new TextDecoder().decode(folder[name] as Uint8Array)));
}

/** The source package with its changes. */
export function libcTree(root: string): Tree {
  const tree = treeOf(root);
  for (const [path, list] of Object.entries(changes)) change(tree, path, (text) => changed(text, list, path));
  change(tree, `${musl}/arch/wasm32/atomic_arch.h`, (text) => text + exchangeOfPointers);
  // The files in memory have no paths upwards through a folder of headers.
  const inner = `${musl}/src/include`.split('/').reduce<Tree>((folder, part) => folder[part] as Tree, tree);
  throughNext(inner);
  const imports = 'libc-bottom-half/sources/__wasilibc_real.c';
  change(tree, imports, (text) => changed(text, importChanges, imports));
  return tree;
}

/** The headers that are installed. */
export function libcHeaders(source: Tree): Tree {
  const folder = (path: string): Tree => path.split('/').reduce<Tree>((tree, part) => tree[part] as Tree, source);
  const headers = merged(folder('libc-bottom-half/headers/public'), folder(`${musl}/include`));
  headers.bits = merged((headers.bits as Tree) ?? {}, merged(folder(`${musl}/arch/generic/bits`), folder(`${musl}/arch/wasm32/bits`)));
  const text = (tree: Tree, name: string): string => new TextDecoder().decode(tree[name] as Uint8Array);
  const types = text(folder(`${musl}/arch/wasm32/bits`), 'alltypes.h.in') + text(folder(`${musl}/include`), 'alltypes.h.in');
  (headers.bits as Tree)['alltypes.h'] = allTypes(types);
  for (const path of withoutHeaders) {
    const parts = path.split('/');
    const parent = parts.slice(0, -1).reduce<Tree>((tree, part) => tree[part] as Tree, headers);
    delete parent?.[parts.at(-1)!];
  }
  return headers;
}

function merged(first: Tree, second: Tree): Tree {
  const both: Tree = { ...first };
  for (const [name, entry] of Object.entries(second)) {
    const before = both[name];
    const areFolders = [before, entry].every((each) => each !== undefined && typeof each === 'object' && !(each instanceof Uint8Array));
    both[name] = areFolders ? merged(before as Tree, entry as Tree) : entry;
  }
  return both;
}

/** What `mkalltypes.sed` of musl makes of its templates. */
const allTypes = (template: string): string =>
  template
    .replace(/^TYPEDEF (.*) ([^ ]*);$/gm, guarded('$2', 'typedef $1 $2;'))
    .replace(/^STRUCT * ([^ ]*) (.*);$/gm, guarded('struct_$1', 'struct $1 $2;'))
    .replace(/^UNION * ([^ ]*) (.*);$/gm, guarded('union_$1', 'union $1 $2;'));

const guarded = (name: string, text: string): string =>
  `#if defined(__NEED_${name}) && !defined(__DEFINED_${name})\n${text}\n#define __DEFINED_${name}\n#endif\n`;

/** LLVM's sources, whose headers of its libc name each other without paths upwards. */
export function llvmTree(root: string): Tree {
  const tree = treeOf(root);
  // musl of Linux has `copy_file_range`; that of WASI has not.
  const operations = 'libcxx/src/filesystem/operations.cpp';
  change(tree, operations, (text) => changed(text, [[' || _LIBCPP_HAS_MUSL_LIBC ||', ' ||']], operations));
  // Comparisons give what the compiler expects of its library: 32 bits.
  const comparisons = 'compiler-rt/lib/builtins/fp_compare_impl.inc';
  change(tree, comparisons, (text) =>
    changed(text, [['#if defined(__aarch64__)', '#if defined(__wasm__) || defined(__aarch64__)']], comparisons),
  );
  const headers = ['libc', 'include'].reduce<Tree>((at, part) => at[part] as Tree, tree);
  for (const folder of Object.values(headers) as Tree[])
    for (const name of Object.keys(folder))
      if (folder[name] instanceof Uint8Array) change(folder, name, (text) => text.replaceAll('#include "../', '#include "include/'));
  return tree;
}
