/** What a CMakeLists.txt of one program builds: its sources, folders and libraries, read as text, for files as plain as those of cuda-samples. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { languageOf } from '../../src/cli/cuda/compile.ts';
import type { Image, Recipe } from './make.ts';

/** The words of each call of a command. */
function callsOf(text: string, command: string): string[][] {
  const pattern = new RegExp(`\\b${command}\\s*\\(([^()]*)\\)`, 'g');
  return [...text.matchAll(pattern)].map(([, words]) => words!.split(/\s+/).filter(Boolean));
}

const keywords = /^(PRIVATE|PUBLIC|INTERFACE|SYSTEM|WIN32)$/;

/** The words behind a keyword of a call, up to the next keyword: functions of projects take their sources so. */
function behind(words: readonly string[], keyword: string): readonly string[] {
  const from = words.indexOf(keyword) + 1;
  const rest = from === 0 ? [] : words.slice(from);
  const to = rest.findIndex((word) => /^[A-Z][A-Z_]+$/.test(word));
  return to < 0 ? rest : rest.slice(0, to);
}

/** Device code that a program loads while it runs: files that commands of nvcc write, with `-fatbin` or `-ptx`, beside the sources here. */
function imagesOf(text: string, folder: string): readonly Image[] {
  const variables = new Map(callsOf(text, 'set').map(([name, ...words]) => [name!, words.join(' ').replaceAll('"', '')]));
  const expanded = (word: string): string =>
    word.replace(/\$\{(\w+)\}/g, (all, name: string) =>
      variables.has(name) && !/_DIR$/.test(name) ? expanded(variables.get(name)!) : all,
    );
  return callsOf(text, 'add_custom_command').flatMap((words) => {
    const kind = words.find((word) => word === '-fatbin' || word === '-ptx');
    const paths = words.map((word) => basename(expanded(word)));
    const source = paths.find((name) => /\.cu$/.test(name));
    const output = paths.find((name) => /\.(fatbin|ptx)$/.test(name));
    return kind && source && output ? [{ kind, source: resolve(folder, source), output: resolve(folder, output) }] : [];
  });
}

/** The recipe of a folder; a text if it has none that can be read. */
export function cmakeRecipeOf(folder: string): Recipe | string {
  const path = join(folder, 'CMakeLists.txt');
  if (!existsSync(path)) return 'there is no CMakeLists.txt';
  const text = readFileSync(path, 'utf8')
    .replace(/#.*/g, '')
    .replace(/\$\{CMAKE_CURRENT_(SOURCE|LIST)_DIR\}/g, '.');
  const [first] = callsOf(text, 'add_executable').map((words) => words.slice(1));
  const own =
    [...text.matchAll(/\(([^()]*)\)/g)]
      .map(([, words]) => words!.split(/\s+/).filter(Boolean))
      .find((words) => words.includes('SOURCES')) ?? [];
  const sources = (first ?? behind(own, 'SOURCES')).filter((word) => languageOf(word));
  if (sources.length === 0) return 'the sources are not named in add_executable';
  const folders = [
    ...callsOf(text, 'include_directories'),
    ...callsOf(text, 'target_include_directories').map((words) => words.slice(1)),
    behind(own, 'INCLUDE_DIRS'),
  ];
  const includes = folders
    .flat()
    .filter((word) => !keywords.test(word) && !word.includes('$'))
    .map((word) => resolve(folder, word));
  const libraries = callsOf(text, 'target_link_libraries')
    .flatMap((words) => words.slice(1))
    .concat(behind(own, 'LINK_LIBRARIES'))
    .filter((word) => !keywords.test(word))
    .filter((word) => !/^(OpenMP|Threads)::/.test(word))
    .map((word) => word.replace(/^-l|^CUDA::/, '').replace(/^cuda_driver$/, 'cuda'));
  const isSeparable = /CUDA_SEPARABLE_COMPILATION\s+ON/.test(text);
  const flags = [...includes.map((each) => `-I${each}`), '-std=c++17', ...(isSeparable ? ['-rdc=true'] : [])];
  return {
    units: sources.map((word) => ({
      path: resolve(folder, word),
      flags: languageOf(word) === 'c' ? [] : flags,
    })),
    includes,
    libraries: [...new Set(libraries)],
    images: imagesOf(text, folder),
    args: [],
    cwd: folder,
  };
}
