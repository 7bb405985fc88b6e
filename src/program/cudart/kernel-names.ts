/** Names of kernels, which both halves of a program mangle. */
import { demangle } from '../../base/demangle/index.ts';

/** Names are looked up at every launch. */
const texts = new Map<string, string>();

/**
 * A name as a text that is the same in both halves: what is inside of `main` is mangled with the parameters of `main` where that is a function of
 * WebAssembly, and without them for devices. Source: WebAssembly's "Basic C ABI", user entry point; clang's ItaniumMangle.cpp.
 */
export function nameOfBothHalves(name: string): string {
  const known = texts.get(name) ?? (demangle(name) ?? name).replace(/\bmain\([^()]*\)(?=::)/g, 'main');
  texts.set(name, known);
  return known;
}

/** The kernel of a name that the host has. */
export function kernelOfName<T extends { readonly name: string }>(kernels: readonly T[], name: string): T | undefined {
  const exact = kernels.find((kernel) => kernel.name === name);
  if (exact || !name.includes('Z4main')) return exact;
  const wanted = nameOfBothHalves(name);
  return kernels.find((kernel) => nameOfBothHalves(kernel.name) === wanted);
}
