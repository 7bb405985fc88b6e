/** The examples: their PTX, compiled forms, and the launches whose results were recorded on a GPU. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type Compiled, compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { type ReadLibrary, readMetallib } from '../../src/metallib/index.ts';
import { type ArgumentSpec, type Io, type LaunchFile, type LaunchOutcome, launch, readLaunchFile } from '../../src/runtime/index.ts';

export const root = join(import.meta.dirname, '../..');
export const examplesFolder = join(root, 'examples');
export const launchPath = (name: string): string => join(root, 'fixtures/examples', name, 'launch.json');

/** Every example by name. */
export const exampleNames = readdirSync(examplesFolder)
  .filter((file) => file.endsWith('.ptx'))
  .map((file) => file.slice(0, -'.ptx'.length))
  .sort();

export const messages = (diagnostics: Diagnostics): string[] => diagnostics.list.map((d) => `${d.code}: ${d.message}`);

/** Fails on any diagnostic, including warnings. */
export const assertQuiet = (diagnostics: Diagnostics): void => assert.equal(messages(diagnostics), []);

export const exampleText = (name: string): string => readFileSync(join(examplesFolder, `${name}.ptx`), 'utf8');

/** An example compiled with defaults; not cached. */
export function compileExample(name: string): Compiled {
  const source = new SourceFile(`${name}.ptx`, exampleText(name));
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, {}, diagnostics);
  assertQuiet(diagnostics);
  return compiled!;
}

export function libraryOf(metallib: Uint8Array): ReadLibrary {
  const diagnostics = new Diagnostics();
  const library = readMetallib(metallib, diagnostics);
  assertQuiet(diagnostics);
  return library!;
}

/** The recorded launch; fails if the file is missing or invalid. */
export function recordedLaunch(name: string): LaunchFile {
  const path = launchPath(name);
  const diagnostics = new Diagnostics();
  const file = readLaunchFile(path, readFileSync(path, 'utf8'), diagnostics);
  assertQuiet(diagnostics);
  return file!;
}

/** Access to the files on disk. */
export const diskIo: Io = {
  readFile: (path) => new Uint8Array(readFileSync(path)),
  writeFile: () => ({ why: 'nothing is written here' }),
};

/** A launch whose outputs start as `value` instead of zeros, so that unwritten elements show. */
export function poisoned(file: LaunchFile, value: number): LaunchFile {
  const poison = (arg: ArgumentSpec): ArgumentSpec =>
    arg.kind === 'buffer' && arg.expect && arg.init.kind === 'zeros' ? { ...arg, init: { kind: 'fill', value } } : arg;
  return { ...file, args: file.args!.map(poison) };
}

/** Launches a metallib on a CPU device of its own; fails on any diagnostic. */
export function launchOnCpu(metallib: Uint8Array, plan: LaunchFile): LaunchOutcome {
  const device = openCpuDevice();
  const diagnostics = new Diagnostics();
  const module = device.load(metallib, diagnostics);
  assertQuiet(diagnostics);
  const outcome = launch(device, module!, plan, { repeat: 1, timeoutMs: 60_000 }, { io: diskIo, diagnostics });
  assertQuiet(diagnostics);
  device.close();
  return outcome!;
}
