/** The sources of the sysroot: packages of Debian, by name and SHA-256, downloaded once and unpacked. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Source {
  readonly name: string;
  /** The archive below `pool/main` of a mirror of Debian. */
  readonly archive: string;
  readonly sha256: string;
  /** What is unpacked; everything if absent. */
  readonly only?: readonly string[];
  /** What its parts are called in the list of licences, and the file that has the text. */
  readonly licences: Readonly<Record<string, string>>;
}

const mirror = process.env.DEBIAN_MIRROR ?? 'http://deb.debian.org/debian';

export const sources = {
  'wasi-libc': {
    name: 'wasi-libc 0.0~git20220510.9886d3d',
    archive: 'w/wasi-libc/wasi-libc_0.0~git20220510.9886d3d.orig.tar.xz',
    sha256: '8f9b802736a856942839d32966937c389f46e9f156415a549a6675b7535e5f74',
    licences: { 'wasi-libc (Apache-2.0 WITH LLVM-exception, Apache-2.0 or MIT)': 'LICENSE', 'musl (MIT)': 'libc-top-half/musl/COPYRIGHT' },
  },
  // The release of the compiler: libc++ promises its headers and its library to fit each other within one.
  llvm: {
    name: 'llvm-toolchain-22 22.1.8',
    archive: 'l/llvm-toolchain-22/llvm-toolchain-22_22.1.8.orig.tar.xz',
    sha256: 'b49b9277aef97616320b2da259e1f8174c65b0ce2fbe2e8629644a97693402fe',
    only: ['libcxx/src', 'libcxxabi/src', 'libcxxabi/include', 'libunwind/src', 'libunwind/include', 'compiler-rt/lib/builtins'].concat(
      ['libc/shared', 'libc/src/__support', 'libc/include/llvm-libc-macros', 'libc/include/llvm-libc-types', 'libc/hdr'],
      ['libcxx/LICENSE.TXT', 'libcxxabi/LICENSE.TXT', 'libunwind/LICENSE.TXT', 'compiler-rt/LICENSE.TXT', 'libc/LICENSE.TXT'],
    ),
    licences: {
      'libc++ (Apache-2.0 WITH LLVM-exception)': 'libcxx/LICENSE.TXT',
      'libc++abi (Apache-2.0 WITH LLVM-exception)': 'libcxxabi/LICENSE.TXT',
      'libunwind (Apache-2.0 WITH LLVM-exception)': 'libunwind/LICENSE.TXT',
      'compiler-rt (Apache-2.0 WITH LLVM-exception)': 'compiler-rt/LICENSE.TXT',
    },
  },
} as const satisfies Record<string, Source>;

/** The folder of a source, after downloading and unpacking it below `cache` where it is not there yet. */
export async function unpacked(which: keyof typeof sources, cache: string): Promise<string> {
  const source: Source = sources[which];
  const folder = join(cache, which);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const archive = join(cache, source.archive.split('/').at(-1)!);
  if (!existsSync(archive)) await download(`${mirror}/pool/main/${source.archive}`, archive);
  const found = createHash('sha256').update(readFileSync(archive)).digest('hex');
  if (found !== source.sha256) throw new Error(`${archive} has the SHA-256 ${found}, not ${source.sha256}: remove it`);
  const partial = `${folder}.partial`;
  mkdirSync(partial, { recursive: true });
  console.log(`unpacking ${source.name}`);
  const only = source.only ? ['--wildcards', ...source.only.map((part) => `*/${part}`)] : [];
  const tar = Bun.spawnSync(['tar', 'xf', archive, '-C', partial, '--strip-components=1', '--no-wildcards-match-slash', ...only], {
    stderr: 'inherit',
  });
  if (tar.exitCode !== 0 || readdirSync(partial).length === 0) throw new Error(`${archive} was not unpacked`);
  renameSync(partial, folder);
  return folder;
}

async function download(url: string, to: string): Promise<void> {
  console.log(`downloading ${url}`);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
  writeFileSync(`${to}.partial`, new Uint8Array(await response.arrayBuffer()));
  renameSync(`${to}.partial`, to);
}
