/** A folder of launch files, which `cumetal run` and `cumetal diff` take. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readableName } from '../../base/demangle/index.ts';
import { elements, writeNpy } from '../../runtime/index.ts';
import { launchJson } from './launch-json.ts';
import type { RecordedLaunch } from './recorded.ts';

export interface LaunchFolder {
  /** The name of the device, for the expected results. */
  readonly device: string;
  readonly path: string;
}

const ending = '.launch.json';
/** The subfolder of arrays, structs and modules, by their content. */
const contents = 'contents';
/** Digits of the number of a launch, so that names are in order. */
const digits = 6;

/** How many launches a folder has. */
export const countLaunches = (path: string): number =>
  existsSync(path) ? readdirSync(path).filter((name) => name.endsWith(ending)).length : 0;

/** Writes a launch; `number` is its place in the program, from 0. Throws what the file system says. */
export function writeLaunch({ path, device }: LaunchFolder, launch: RecordedLaunch, number: number): void {
  const place = join(path, contents);
  mkdirSync(place, { recursive: true });
  const file = (bytes: Uint8Array, extension: string): string => {
    const name = `${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.${extension}`;
    if (!existsSync(join(place, name))) writeFileSync(join(place, name), bytes);
    return `${contents}/${name}`;
  };
  const json = launchJson(launch, {
    file,
    array: (element, bytes) =>
      file(writeNpy({ descr: elements[element].npy, shape: [bytes.length / elements[element].size], data: bytes }), 'npy'),
    device,
  });
  const kernel =
    /^[\w:]+/
      .exec(readableName(launch.kernel) ?? launch.kernel)?.[0]
      .replace(/.*::/, '')
      .slice(0, 60) || 'kernel';
  writeFileSync(join(path, `${String(number).padStart(digits, '0')}-${kernel}${ending}`), `${json}\n`);
}
