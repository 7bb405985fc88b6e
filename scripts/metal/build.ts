/**
 * Writes `src/ffi/metal/shim.generated.ts`: the Metal shim as a library for macOS and as source, in a form that is part of every
 * bundle and binary. `bun scripts/metal/build.ts` after a change of shim.c; `spec/ffi/dylib.spec.ts` holds it equal.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildDylib, sourcePath } from './dylib.ts';

const target = join(import.meta.dirname, '../../src/ffi/metal/shim.generated.ts');
const packed = (bytes: Uint8Array): string => gzipSync(bytes, { level: 9 }).toString('base64');

const dylib = buildDylib();
const sha256 = createHash('sha256').update(dylib).digest('hex');
writeFileSync(
  target,
  `/** The Metal shim, packed by \`scripts/metal/build.ts\`: gzip in base64. */

/** libcumetal.dylib for macOS 13 and later on arm64, ${dylib.length} bytes. */
export const dylib = {
  sha256: '${sha256}',
  packed: '${packed(dylib)}',
};

/** shim.c, for a machine where the library does not load. */
export const source = {
  packed: '${packed(readFileSync(sourcePath))}',
};
`,
);
console.log(`${target}: ${dylib.length} bytes, sha256 ${sha256}`);
