/** Names of the headers whose numbers nvcc is asked for: enumerators, macros that are numbers, and members of structures. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { includeFolder } from '../../spec/support/headers.ts';

/** Headers whose names are those of CUDA. */
const files = ['driver_types.h', 'cuda.h', 'device_types.h', 'nvtx3/nvToolsExt.h'].concat(
  ['attributes', 'errors', 'graph_types', 'texture_types'].map((name) => `cumetal/${name}.h`),
);
/** What CUDA 13 has changed, as the headers are those of the version that they name; and handles and pointers, which are no numbers. */
const changed = new Set(
  ['cudaPointerAttributes', 'CUDA_VERSION', 'cudaStreamLegacy', 'cudaStreamPerThread'].concat(
    ['END', 'BUFFER_POINTER', 'BUFFER_SIZE'].map((name) => `CU_LAUNCH_PARAM_${name}`),
  ),
);

/** An expression of C++ by the name that it is recorded as. */
export function headerExpressions(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const file of files) {
    const text = readFileSync(join(includeFolder, file), 'utf8').replaceAll(/\/\/.*/g, '');
    for (const [, body] of text.matchAll(/\benum\s*\w*\s*\{([^}]*)\}/g))
      for (const [name] of body!.matchAll(/(?<=^|,)\s*\w+/g)) found.set(name.trim(), `(long long)(${name.trim()})`);
    for (const [, name] of text.matchAll(/^#define (cuda\w+|CU_\w+|CUDA_\w+) [^\\\n]*\d[^\\\n]*$/gm))
      found.set(name!, `(long long)(${name})`);
    for (const [, name, body] of text.matchAll(/^(?:typedef )?struct (\w+) \{\n(.*?)\n\}/gms)) {
      found.set(name!, `(long long)sizeof(${name})`);
      for (const member of membersOf(body!)) found.set(`${name}.${member}`, `(long long)__builtin_offsetof(${name}, ${member})`);
    }
  }
  for (const name of found.keys()) if (changed.has(name.split('.')[0]!)) found.delete(name);
  return found;
}

/** Members of a structure, of which nested ones count by their own names. */
function membersOf(body: string): readonly string[] {
  // Members of a union without a name are those of what it is in, and begin where its first one does.
  let flat = body.replaceAll(/\bunion \{\n\s*(.*?;)[^}]*\};/gs, '$1');
  for (let before = ''; before !== flat; ) [before, flat] = [flat, flat.replaceAll(/\{[^{}]*\}/g, '')];
  return flat
    .split(/[;,]/)
    .map((part) => /(\w+)(?:\[[^\]]*\])*\s*$/.exec(part.trim())?.[1])
    .filter((name) => name !== undefined);
}
