/** The encodings that LLVM's assembler gives to instructions in Intel's syntax. */
import { spawnSync } from 'node:child_process';
import { newAssembler } from '../../../src/native/x64/index.ts';
import { mask } from '../../../src/native/x64/types.ts';
import type { Case } from './text.ts';

const target = ['-triple=x86_64', '-mcpu=skylake-avx512', '-mattr=+movbe,+avx512vpopcntdq', '-x86-asm-syntax=intel'];

/** The bytes of each instruction, in hexadecimal digits. Throws LLVM's messages if it refuses one. */
export function encodingsByLlvm(texts: readonly string[]): string[] {
  const { stdout, stderr } = spawnSync('llvm-mc-14', [...target, '-show-encoding'], { input: `${texts.join('\n')}\n`, maxBuffer: 2 ** 28 });
  if (stderr.length > 0) throw new Error(`llvm-mc-14: ${stderr}`);
  return [...stdout.toString().matchAll(/encoding: \[(.*?)\]/g)].map((found) => found[1]!.replaceAll(/0x|,/g, ''));
}

/** The bytes that the assembler writes for an instruction, in hexadecimal digits. */
export function encodingOf({ mnemonic, operands, under, isZeroing }: Case, avx512 = true): string {
  const out = newAssembler({ avx512 });
  if (under > 0) out.emitMasked(mnemonic, mask(under), isZeroing, ...operands);
  else out.emit(mnemonic, ...operands);
  return Buffer.from(out.finish()).toString('hex');
}
