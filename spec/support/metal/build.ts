/**
 * Builds the fake Metal, and the shim of the product against it, as shared objects in a temporary folder: by the system's C
 * compiler, or by one for arm64.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { classes, type Encoding, type Method, methods } from './headers.ts';

export const shimSource = join(import.meta.dirname, '../../../src/ffi/metal/shim.c');

const cTypes: Record<Encoding, string> = {
  v: 'void',
  '@': 'object *',
  Q: 'U',
  q: 'long',
  d: 'double',
  B: 'bool',
  C: 'uint8_t',
  '*': 'const char *',
  '^v': 'void *',
  '^@': 'object **',
  '@?': 'block *',
  '{MTLSize}': 'MTLSize',
  '{NSRange}': 'NSRange',
};

const cName = ({ owner, selector, isOfClass }: Method): string => `${owner}${isOfClass ? '_class' : ''}_${selector.replaceAll(':', '_')}`;

/** The prototypes that the fake's code has to meet. */
function prototypes(): string {
  const functions = methods.map((method) => {
    const [result, ...args] = method.types.map((type) => cTypes[type]);
    return `${result} ${cName(method)}(object *self, SEL selector${args.map((arg) => `, ${arg}`).join('')});`;
  });
  return [...Object.keys(classes).map((name) => `extern const class ${name}_class;`), ...functions, ''].join('\n');
}

/** In the spelling of the runtime: with receiver and selector, and the stack offset of each. */
function fullEncoding({ types: [result, ...args] }: Method): string {
  const spelled = (type: Encoding): string =>
    ({ '{MTLSize}': '{?=QQQ}', '{NSRange}': '{_NSRange=QQ}', '*': 'r*', v: 'Vv' })[type as string] ?? type;
  return [result!, '@' as const, ':' as Encoding, ...args].map((type, i) => `${spelled(type)}${8 * i}`).join('');
}

function tables(): string {
  const rows = (name: string, isOfClass: boolean): string[] =>
    methods
      .filter((m) => m.owner === name && m.isOfClass === isOfClass)
      .map((m) => `{"${m.selector}", (void *)${cName(m)}, "${fullEncoding(m)}"}`);
  const lines = Object.entries(classes).map(([name, { parent }]) => {
    const [instance, own] = [rows(name, false), rows(name, true)];
    // Arrays of nothing are not C, so each ends with an empty row that is not counted.
    return `static const struct method ${name}_methods[] = {${[...instance, '{0, 0, 0}'].join(', ')}};
static const struct method ${name}_own[] = {${[...own, '{0, 0, 0}'].join(', ')}};
const class ${name}_class = {"${name}", ${parent ? `&${parent}_class` : '0'}, ${name}_methods, ${instance.length}, ${name}_own, ${own.length}};`;
  });
  const known = Object.keys(classes).map((name) => `&${name}_class`);
  return [...lines, `static const class *const known[] = {${known.join(', ')}, 0};`, ''].join('\n');
}

export interface Built {
  /** Paths of the shared objects; the shim finds the fake beside it. */
  readonly fake: string;
  readonly shim: string;
  /** Removes both. */
  remove(): void;
}

/** Runs a compiler; throws its output if it fails. */
export function buildFake(compiler = 'cc'): Built {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-fake-'));
  writeFileSync(join(folder, 'methods.h'), prototypes());
  writeFileSync(join(folder, 'classes.inc'), tables());
  const sources = ['runtime.c', 'metal.c', 'encoders.c', 'queue.c'].map((name) => join(import.meta.dirname, 'fake', name));
  const strict = ['-Wall', '-Wextra', '-Werror', '-fPIC', '-shared'];
  const [fake, shim] = [join(folder, 'libfakemetal.so'), join(folder, 'libcumetal.so')];
  compile(compiler, ['-O1', ...strict, `-I${folder}`, ...sources, '-o', fake, '-lpthread']);
  compile(compiler, ['-O2', ...strict, shimSource, `-L${folder}`, '-lfakemetal', '-Wl,-rpath,$ORIGIN', '-o', shim]);
  return { fake, shim, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function compile(compiler: string, words: readonly string[]): void {
  const { status, stderr, error } = spawnSync(compiler, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${compiler} did not build the fake Metal: ${error?.message ?? stderr}`);
}
