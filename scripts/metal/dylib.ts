/**
 * Builds the Metal shim for macOS on arm64, on Linux, with nothing of Apple's: Clang and its Mach-O linker from Debian
 * (`clang-14`, `lld-14`), and stubs that say which system library has which symbol (`sdk/`). The same sources give the same
 * bytes on any machine.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
export const sourcePath = join(root, 'src/ffi/metal/shim.c');

/** What the build runs. */
export const dylibTools = ['clang-14', 'ld64.lld-14'] as const;

/** The bytes of the library, which is signed ad hoc by the linker; throws what a tool says where it fails. */
export function buildDylib(): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-dylib-'));
  try {
    const [object, library] = [join(folder, 'shim.o'), join(folder, 'libcumetal.dylib')];
    // Paths of this machine must not get into the object.
    tool('clang-14', [
      ...['--target=arm64-apple-macos13.0', '-O2', '-fvisibility=hidden', '-ffreestanding', '-nostdinc', '-fno-stack-protector'],
      ...['-Wall', '-Wextra', '-Werror', `-ffile-prefix-map=${root}=.`, '-c', sourcePath, '-o', object],
    ]);
    tool('ld64.lld-14', [
      ...['-arch', 'arm64', '-platform_version', 'macos', '13.0', '15.0', '-syslibroot', join(import.meta.dirname, 'sdk')],
      ...['-dylib', '-install_name', '@rpath/libcumetal.dylib', '-needed_framework', 'Metal', '-needed_framework', 'Foundation'],
      // Without CoreGraphics a program without a window has no default device.
      ...['-needed_framework', 'CoreGraphics', '-lobjc', '-lSystem', '-adhoc_codesign', '-dead_strip', '-o', library, object],
    ]);
    return readFileSync(library);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tool(name: string, words: readonly string[]): void {
  const { status, stderr, error } = spawnSync(name, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name}: ${error?.message ?? stderr}`);
}
