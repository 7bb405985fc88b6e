/** The licenses of what other people wrote in the built files, whose authors ask for a copy. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The package of a module, as `ohm-js` or `@noble/hashes`. Inputs are relative to the working directory. */
const packageOf = (input: string): string | undefined => /.*\/node_modules\/((?:@[^/]+\/)?[^./][^/]*)\//.exec(resolve(input))?.[1];

/** The license of each package that has a module among the inputs of a bundle, by name; throws for a package without one. */
export function licensesOf(inputs: Iterable<string>): string {
  const names = [...new Set([...inputs].map(packageOf))].filter((name) => name !== undefined).sort();
  return names.map((name) => licenseOf(name)).join(`\n${'-'.repeat(80)}\n\n`);
}

function licenseOf(name: string): string {
  const folder = join(root, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'License.txt'].map((each) => join(folder, each)).find((path) => existsSync(path));
  if (!file) throw new Error(`the package ${name} has no license file`);
  return `${name} ${version} (${license})\n\n${readFileSync(file, 'utf8').trim()}\n`;
}
