/**
 * Compiles C, C++ and CUDA files with the sysroot of `sysroot.ts`, both halves of a `.cu` file, and links them to one program.
 *
 *     bun scripts/toolchain/build-program.ts OUT.wasm [-IFOLDER] [-DNAME=VALUE] FILE…
 *
 * Headers of CUDA are those of `cuda/include`, or of CUMETAL_INCLUDE. CUMETAL_PTX names a file for the PTX of the last `.cu` file.
 */
import { writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { openToolchain, type Tree, treeOf } from './clang.ts';
import { buildProgram, languageOf } from './program.ts';

const root = join(import.meta.dirname, '../..');
const [out = 'a.wasm', ...rest] = process.argv.slice(2);
const given = rest.filter((word) => !word.startsWith('-')).map((path) => resolve(path));
const flags = rest.filter((word) => word.startsWith('-'));

/** Files of the program: the folders of the sources and of `-I`. */
const files: Tree = {};
const folders = [...new Set(given.map((path) => dirname(path)))];
const included = flags.filter((each) => each.startsWith('-I')).map((each) => resolve(each.slice(2)));
for (const [i, folder] of [...folders, ...included].entries()) files[`src${i}`] = treeOf(folder);
const userFlags = [...[...folders, ...included].map((_, i) => `-I/src${i}`), ...flags.filter((each) => /^-(D|std=)/.test(each))];
const setup = {
  toolchain: await openToolchain(),
  sysroot: treeOf(process.env.CUMETAL_SYSROOT ?? join(root, '.cache/sysroot')),
  cuda: treeOf(process.env.CUMETAL_INCLUDE ?? join(root, 'cuda/include')),
};
const units = given.map((path) => ({
  path: `/src${folders.indexOf(dirname(path))}/${basename(path)}`,
  language: languageOf(path) ?? ('c++' as const),
  flags: userFlags,
}));
const built = await buildProgram(setup, units, files);
if ('stage' in built) {
  console.error(`${built.stage}:\n${built.messages}`);
  process.exit(built.stage === 'translation' ? 2 : 1);
}
writeFileSync(out, built.wasm);
const ptx = [...built.ptx.values()].at(-1);
if (process.env.CUMETAL_PTX && ptx !== undefined) writeFileSync(process.env.CUMETAL_PTX, ptx);
console.error(`${out}: ${built.wasm.length} bytes`);
