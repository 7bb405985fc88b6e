/** The number of GPU cores of a Mac, from a registry library that replaces IOKit and checks its arguments. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chips, coresOf } from '../../src/device/metal/chips.ts';
import { gpuCoreCount } from '../../src/ffi/index.ts';
import { needing } from '../support/need.ts';

const all = suite('ffi/cores');
const test = needing(all, ['fake-metal']);

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
all.after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * `count` below 0: the registry has no such property; `hasService`: whether there is a GPU. `held` is the number of unreleased objects at
 * the end.
 */
function registry(name: string, count: string, hasService = 1): { ioKit: string; coreFoundation: string } {
  const source = join(folder, `${name}.c`);
  writeFileSync(
    source,
    `#include <string.h>
int held;
static long long count = ${count};
static char key[64], matching[64];
void *IOServiceMatching(const char *name) { held++; strncpy(matching, name, 63); return matching; }
unsigned IOServiceGetMatchingService(unsigned port, void *of) {
  held--;
  if (port != 0 || of != matching || strcmp(matching, "AGXAccelerator") || !${hasService}) return 0;
  held++;
  return 77;
}
void *CFStringCreateWithCString(void *allocator, const char *text, unsigned encoding) {
  if (allocator || encoding != 0x08000100) return 0;
  held++;
  strncpy(key, text, 63);
  return key;
}
void *IORegistryEntrySearchCFProperty(unsigned entry, const char *plane, void *of, void *allocator, unsigned options) {
  if (entry != 77 || strcmp(plane, "IOService") || of != key || strcmp(key, "gpu-core-count") || allocator || options != 3 || count < 0) return 0;
  held++;
  return &count;
}
unsigned char CFNumberGetValue(void *number, long type, long long *out) {
  if (number != &count || type != 4) return 0;
  *out = count;
  return 1;
}
void CFRelease(void *object) { (void)object; held--; }
int IOObjectRelease(unsigned object) { (void)object; held--; return 0; }
int still_held(void) { return held; }
`,
  );
  const path = join(folder, `${name}.so`);
  const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-Wall', source, '-o', path], { encoding: 'utf8' });
  assert.is(status, 0, stderr);
  return { ioKit: path, coreFoundation: path };
}

const held = (path: string): number => {
  const { dlopen } = process.getBuiltinModule('bun:ffi') as typeof import('bun:ffi');
  return dlopen(path, { still_held: { args: [], returns: 'i32' } }).symbols.still_held();
};

for (const [name, count, hasService, wanted] of [
  ['max', '38', 1, 38],
  ['none', '-1', 1, undefined],
  ['zero', '0', 1, undefined],
  ['virtual', '10', 0, undefined],
] as const) {
  test(`a registry: ${name}`, () => {
    const libraries = registry(name, count, hasService);
    assert.is(gpuCoreCount(libraries), wanted);
    assert.is(held(libraries.ioKit), 0);
  });
}

test('libraries that are not there count nothing', () => {
  assert.is(gpuCoreCount({ ioKit: '/nowhere', coreFoundation: '/nowhere' }), undefined);
  if (process.platform !== 'darwin') assert.is(gpuCoreCount(), undefined);
});

test('a count is believed before a name, and a chip that nobody knows says nothing', () => {
  assert.is(coresOf('Apple M2 Max', 30), 30);
  assert.is(coresOf('Apple M2 Max', undefined), '30 to 38, by its name');
  assert.is(coresOf('Apple Paravirtual device', undefined), undefined);
  for (const [least, most] of Object.values(chips)) assert.ok(least <= most && least > 0);
});

all.run();
