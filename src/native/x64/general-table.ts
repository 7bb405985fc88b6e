/**
 * Instructions on general registers in the legacy encoding, a line for each group of forms: mnemonic, roles of the operands, opcode, sizes, operands.
 *
 * - Roles, a letter for each operand as in the manual's column "Op/En": R the field reg of ModRM, M its field rm, O the low bits of the opcode,
 *   I an immediate, C an operand that the opcode implies.
 * - Opcode: an optional mandatory prefix, the map (`0f`, `0f38`, `0f3a`; none for the one-byte map), the byte, and `/digit` for the field reg.
 * - Sizes: the bytes, 1 to 8, that `r`, `rm`, `a` and `iz` stand for; `-` where no operand has a size that the encoding tells.
 * - Operands: `r` a register, `rm` a register or memory, `m` memory, `a` the accumulator, `cl`; with a number of bits of just that size. `ib` is an
 *   immediate byte that is sign-extended, `iz` an immediate of the operand's size (at most 32 bits), `iq` one of 64 bits, `u32` one that is
 *   zero-extended, `u8` and `u16` plain bits, `one` the number 1.
 *
 * The first form that fits is taken, so shorter ones stand first. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
 */
import { conditions } from './types.ts';

const arithmetic = ['add', 'or', 'adc', 'sbb', 'and', 'sub', 'xor', 'cmp']
  .map((name, digit) => {
    const opcode = (low: number) => (8 * digit + low).toString(16).padStart(2, '0');
    return `
${name} MI 83/${digit} 248 rm,ib
${name} CI ${opcode(4)} 1 a,iz
${name} CI ${opcode(5)} 248 a,iz
${name} MI 80/${digit} 1 rm,iz
${name} MI 81/${digit} 248 rm,iz
${name} MR ${opcode(0)} 1 rm,r
${name} MR ${opcode(1)} 248 rm,r
${name} RM ${opcode(2)} 1 r,m
${name} RM ${opcode(3)} 248 r,m`;
  })
  .join('');

const shifts = [
  ['rol', 0],
  ['ror', 1],
  ['shl', 4],
  ['shr', 5],
  ['sar', 7],
]
  .map(
    ([name, digit]) => `
${name} MC d0/${digit} 1 rm,one
${name} MC d1/${digit} 248 rm,one
${name} MI c0/${digit} 1 rm,u8
${name} MI c1/${digit} 248 rm,u8
${name} MC d2/${digit} 1 rm,cl
${name} MC d3/${digit} 248 rm,cl`,
  )
  .join('');

const unary = [
  ['not', 2],
  ['neg', 3],
  ['mul', 4],
  ['imul', 5],
  ['div', 6],
  ['idiv', 7],
]
  .map(([name, digit]) => `\n${name} M f6/${digit} 1 rm\n${name} M f7/${digit} 248 rm`)
  .join('');

const bitTests = ['bt', 'bts', 'btr', 'btc']
  .map((name, i) => `\n${name} MI 0f.ba/${4 + i} 248 rm,u8\n${name} MR 0f.${(0xa3 + 8 * i).toString(16)} 248 rm,r`)
  .join('');

const conditional = Object.entries(conditions)
  .map(([name, number]) => `\ncmov${name} RM 0f.${(0x40 + number).toString(16)} 248 r,rm`)
  .join('');

export const generalTable = `${arithmetic}${shifts}${unary}${bitTests}${conditional}
mov MR 88 1 rm,r
mov MR 89 248 rm,r
mov RM 8a 1 r,m
mov RM 8b 248 r,m
mov OI b0 1 r,iz
mov OI b8 24 r,iz
mov OI b8 - r64,u32
mov MI c6/0 1 m,iz
mov MI c7/0 24 m,iz
mov MI c7/0 8 rm,iz
mov OI b8 8 r,iq
movabs OI b8 8 r,iq
movzx RM 0f.b6 248 r,rm8
movzx RM 0f.b7 48 r,rm16
movsx RM 0f.be 248 r,rm8
movsx RM 0f.bf 48 r,rm16
movsxd RM 63 8 r,rm32
movbe RM 0f38.f0 248 r,m
movbe MR 0f38.f1 248 m,r
lea RM 8d 48 r,m
test CI a8 1 a,iz
test CI a9 248 a,iz
test MI f6/0 1 rm,iz
test MI f7/0 248 rm,iz
test MR 84 1 rm,r
test MR 85 248 rm,r
imul RM 0f.af 248 r,rm
imul RMI 6b 248 r,rm,ib
imul RMI 69 248 r,rm,iz
inc M fe/0 1 rm
inc M ff/0 248 rm
dec M fe/1 1 rm
dec M ff/1 248 rm
shld MRI 0f.a4 248 rm,r,u8
shld MRC 0f.a5 248 rm,r,cl
shrd MRI 0f.ac 248 rm,r,u8
shrd MRC 0f.ad 248 rm,r,cl
lzcnt RM f3.0f.bd 248 r,rm
tzcnt RM f3.0f.bc 248 r,rm
popcnt RM f3.0f.b8 248 r,rm
bsf RM 0f.bc 248 r,rm
bsr RM 0f.bd 248 r,rm
bswap O 0f.c8 48 r
xchg MR 86 1 m,r
xchg MR 87 248 m,r
xchg RM 86 1 r,rm
xchg RM 87 248 r,rm
xadd MR 0f.c0 1 rm,r
xadd MR 0f.c1 248 rm,r
cmpxchg MR 0f.b0 1 rm,r
cmpxchg MR 0f.b1 248 rm,r
cmpxchg8b M 0f.c7/1 - m64
cmpxchg16b M 0f.c7/1 8 m128
push O 50 - r64
push I 6a - ib
push M ff/6 - m64
pop O 58 - r64
pop M 8f/0 - m64
call M ff/2 - rm64
jmp M ff/4 - rm64
cwd - 66.99 - -
cdq - 99 - -
cqo - 99 8 -
cbw - 66.98 - -
cwde - 98 - -
cdqe - 98 8 -
ret - c3 - -
ud2 - 0f.0b - -
int3 - cc - -
nop - 90 - -
pause - f3.90 - -
cpuid - 0f.a2 - -
xgetbv - 0f.01d0 - -
rdtsc - 0f.31 - -
mfence - 0f.aef0 - -
lfence - 0f.aee8 - -
sfence - 0f.aef8 - -
prefetcht0 M 0f.18/1 - m
prefetcht1 M 0f.18/2 - m
prefetcht2 M 0f.18/3 - m
prefetchnta M 0f.18/0 - m
`;

/** Instructions that may have the prefix `lock`, where their destination is memory: their mnemonics are then `lock add` and the like. */
export const lockable = 'add adc and btc btr bts cmpxchg cmpxchg8b cmpxchg16b dec inc neg not or sbb sub xadd xchg xor'.split(' ');
