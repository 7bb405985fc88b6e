/** Entries of native code by hand, in the conventions of src/native: rdi has the context, the result is at 32 of it, eax is the trap code. */
import type { NativeModule } from '../../src/device/cpu/native/module.ts';
import { placeCode } from '../../src/ffi/native/code-pages.ts';

/** `lea eax, [rsi + rdx]; mov [rdi + 32], eax; xor eax, eax; ret`: the sum of two i32. */
export const addCode = [0x8d, 0x04, 0x16, 0x89, 0x47, 0x20, 0x31, 0xc0, 0xc3];

/** `mov rax, [rdi + 16]; mov eax, [rax + rsi]; mov [rdi + 32], eax; xor eax, eax; ret`: an i32 of memory. */
export const loadCode = [0x48, 0x8b, 0x47, 0x10, 0x8b, 0x04, 0x30, 0x89, 0x47, 0x20, 0x31, 0xc0, 0xc3];

/** `mov rax, [rdi + 16]; mov dword [rax + rsi], 77; xor eax, eax; ret`. */
const storeCode = [0x48, 0x8b, 0x47, 0x10, 0xc7, 0x04, 0x30, 77, 0, 0, 0, 0x31, 0xc0, 0xc3];

/** `mov eax, 2; ret`: out of bounds. */
const trapCode = [0xb8, 2, 0, 0, 0, 0xc3];

/** Calls imported function 0 with an i32. */
export const callImportCode = [
  ...[0x41, 0x55], // push r13
  ...[0x49, 0x89, 0xfd], // mov r13, rdi
  ...[0x89, 0xf7], // mov edi, esi
  ...[0x41, 0xff, 0x55, 0x40], // call [r13 + 64]
  ...[0x41, 0x83, 0x7d, 0x08, 0x00], // cmp dword [r13 + 8], 0
  ...[0x75, 0x09], // jne threw
  ...[0x41, 0x89, 0x45, 0x20], // mov [r13 + 32], eax
  ...[0x31, 0xc0], // xor eax, eax
  ...[0x41, 0x5d, 0xc3], // pop r13; ret
  ...[0x41, 0x8b, 0x45, 0x08], // threw: mov eax, [r13 + 8]
  ...[0x41, 0x5d, 0xc3], // pop r13; ret
];

/** Code pages live as long as the process. */
const kept: unknown[] = [];

/** A module with all of these, and two globals. */
export function moduleOf(): NativeModule {
  const codes = { add: addCode, load: loadCode, store: storeCode, trap: trapCode, imported: callImportCode };
  const bytes: number[] = [];
  const entries = Object.fromEntries(
    Object.entries(codes).map(([name, code]) => {
      const offset = bytes.length;
      bytes.push(...code);
      return [name, { offset, hasResult: name !== 'store' }];
    }),
  );
  const pages = placeCode(Uint8Array.from(bytes))!;
  kept.push(pages);
  return {
    address: pages.address,
    contextBytes: 96,
    entries,
    imports: [{ name: 'next', params: ['i32'], results: ['i32'], offset: 64 }],
    globals: [
      { name: 'word', type: 'i32', offset: 72, initial: 0xffff_ffffn },
      { name: 'long', type: 'i64', offset: 80, initial: 5n },
      { name: undefined, type: 'f64', offset: 88, initial: 0n },
    ],
  };
}
