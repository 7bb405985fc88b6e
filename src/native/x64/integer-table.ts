/**
 * Instructions on vectors of integers, on masks, and those of BMI, in the encodings VEX and EVEX. A line for each group of forms: mnemonic, roles of the
 * operands, prefix, map, opcode, W, lengths, operands, memory.
 *
 * - Roles, a letter for each operand: R the field reg of ModRM, M its field rm, V the register vvvv of the prefix, S the high half of the immediate,
 *   I an immediate byte.
 * - W: the bit of VEX and that of EVEX, `-` where that encoding does not exist, `r` where the size of the general registers is the bit.
 * - Lengths: x, y, z for the vectors of 16, 32 and 64 bytes that `v` stands for, 4 and 8 for the sizes of `r`.
 * - Operands: `v` a vector; `h`, `q`, `o` one of a half, a quarter, an eighth of its bytes (16 at least); `x`, `y` vectors of 16 and 32 bytes; `k` a mask;
 *   `r` a general register; `m` memory, `mv` and `mh` with a vector of indexes of as many bytes as `v` and `h`; an `m` behind a letter: that or memory; `i` an immediate byte.
 * - Memory: what it has for the length L, which is also the factor of a displacement of 8 bits in EVEX. `f32` and `f64`: L bytes, or one element for all
 *   lanes; `h32`: half of L, or one element; `fm`, `hm`, `qm`, `om`: L or a half, a quarter, an eighth of it; `nN`: N bytes; `dup`: L, but 8 for L = 16;
 *   `eN`: up to L bytes in elements of N, which are the factor.
 * - `reverse`: the form of two registers that has a shorter prefix where only the second one is above 7. `unmasked`: EVEX has no mask.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
 */

/** Operations on two vectors: prefix 66, map 0f or 0f38; `mnemonic opcode W memory`. */
const binary = (map: string, rows: string) =>
  rows
    .trim()
    .split('\n')
    .map((row) => {
      const [name, opcode, w, ...rest] = row.split(' ');
      return `\n${name} RVM 66 ${map} ${opcode} ${w} xyz v,v,vm ${rest.join(' ')}`;
    })
    .join('');

const binaries =
  binary(
    '0f',
    `vpaddb fc 0/0 fm
vpaddw fd 0/0 fm
vpaddd fe 0/0 f32
vpaddq d4 0/1 f64
vpsubb f8 0/0 fm
vpsubw f9 0/0 fm
vpsubd fa 0/0 f32
vpsubq fb 0/1 f64
vpaddsb ec 0/0 fm
vpaddsw ed 0/0 fm
vpaddusb dc 0/0 fm
vpaddusw dd 0/0 fm
vpsubsb e8 0/0 fm
vpsubsw e9 0/0 fm
vpsubusb d8 0/0 fm
vpsubusw d9 0/0 fm
vpavgb e0 0/0 fm
vpavgw e3 0/0 fm
vpminub da 0/0 fm
vpminsw ea 0/0 fm
vpmaxub de 0/0 fm
vpmaxsw ee 0/0 fm
vpmullw d5 0/0 fm
vpmulhw e5 0/0 fm
vpmulhuw e4 0/0 fm
vpmuludq f4 0/1 f64
vpmaddwd f5 0/0 fm
vpsadbw f6 0/0 fm unmasked
vpacksswb 63 0/0 fm
vpackssdw 6b 0/0 f32
vpackuswb 67 0/0 fm
vpunpcklbw 60 0/0 fm
vpunpcklwd 61 0/0 fm
vpunpckldq 62 0/0 f32
vpunpcklqdq 6c 0/1 f64
vpunpckhbw 68 0/0 fm
vpunpckhwd 69 0/0 fm
vpunpckhdq 6a 0/0 f32
vpunpckhqdq 6d 0/1 f64
vpandd db -/0 f32
vpandq db -/1 f64
vpandnd df -/0 f32
vpandnq df -/1 f64
vpord eb -/0 f32
vporq eb -/1 f64
vpxord ef -/0 f32
vpxorq ef -/1 f64`,
  ) +
  binary(
    '0f38',
    `vpshufb 00 0/0 fm
vpmaddubsw 04 0/0 fm
vpmulhrsw 0b 0/0 fm
vpmuldq 28 0/1 f64
vpackusdw 2b 0/0 f32
vpminsb 38 0/0 fm
vpminsd 39 0/0 f32
vpminsq 39 -/1 f64
vpminuw 3a 0/0 fm
vpminud 3b 0/0 f32
vpminuq 3b -/1 f64
vpmaxsb 3c 0/0 fm
vpmaxsd 3d 0/0 f32
vpmaxsq 3d -/1 f64
vpmaxuw 3e 0/0 fm
vpmaxud 3f 0/0 f32
vpmaxuq 3f -/1 f64
vpmulld 40 0/0 f32
vpmullq 40 -/1 f64
vpsllvd 47 0/0 f32
vpsllvq 47 1/1 f64
vpsrlvd 45 0/0 f32
vpsrlvq 45 1/1 f64
vpsravd 46 0/0 f32
vpsravq 46 -/1 f64
vpsllvw 12 -/1 fm
vpsrlvw 10 -/1 fm
vpsravw 11 -/1 fm
vprolvd 15 -/0 f32
vprolvq 15 -/1 f64
vprorvd 14 -/0 f32
vprorvq 14 -/1 f64
vpblendmd 64 -/0 f32
vpblendmq 64 -/1 f64
vpblendmb 66 -/0 fm
vpblendmw 66 -/1 fm
vpermw 8d -/1 fm
vpermt2w 7d -/1 fm
vpermt2d 7e -/0 f32
vpermt2q 7e -/1 f64
vpermi2w 75 -/1 fm
vpermi2d 76 -/0 f32
vpermi2q 76 -/1 f64`,
  );

const onlyVex = (map: string, rows: string) =>
  rows
    .split(' ')
    .map((row) => {
      const [name, opcode] = row.split(':');
      return `\n${name} RVM 66 ${map} ${opcode} 0/- xy v,v,vm fm`;
    })
    .join('');
const vexBinaries =
  onlyVex('0f', 'vpand:db vpandn:df vpor:eb vpxor:ef') +
  onlyVex('0f38', 'vphaddw:01 vphaddd:02 vphaddsw:03 vphsubw:05 vphsubd:06 vpsignb:08 vpsignw:09 vpsignd:0a');

/** Shifts: those by a count in a vector, and those by an immediate, which are opcode and digit. */
const shift = (name: string, counted: string, byImmediate: string, w: string, memory: string) => `
${name} RVM 66 0f ${counted} ${w} xyz v,v,xm n16
${name} VMI 66 0f ${byImmediate} ${w.replace(/.$/, '-')} xy v,v,i ${memory}
${name} VMI 66 0f ${byImmediate} ${w.replace(/^./, '-')} xyz v,vm,i ${memory}`;
const shifts =
  shift('vpsllw', 'f1', '71/6', '0/0', 'fm') +
  shift('vpslld', 'f2', '72/6', '0/0', 'f32') +
  shift('vpsllq', 'f3', '73/6', '0/1', 'f64') +
  shift('vpsrlw', 'd1', '71/2', '0/0', 'fm') +
  shift('vpsrld', 'd2', '72/2', '0/0', 'f32') +
  shift('vpsrlq', 'd3', '73/2', '0/1', 'f64') +
  shift('vpsraw', 'e1', '71/4', '0/0', 'fm') +
  shift('vpsrad', 'e2', '72/4', '0/0', 'f32');

/** Comparisons: a vector with all bits of a lane set, or a mask. */
const comparisons = [
  ['vpcmpeqb', '0f', '74', '0', 'fm'],
  ['vpcmpeqw', '0f', '75', '0', 'fm'],
  ['vpcmpeqd', '0f', '76', '0', 'f32'],
  ['vpcmpeqq', '0f38', '29', '1', 'f64'],
  ['vpcmpgtb', '0f', '64', '0', 'fm'],
  ['vpcmpgtw', '0f', '65', '0', 'fm'],
  ['vpcmpgtd', '0f', '66', '0', 'f32'],
  ['vpcmpgtq', '0f38', '37', '1', 'f64'],
]
  .map(
    ([name, map, opcode, w, memory]) => `
${name} RVM 66 ${map} ${opcode} 0/- xy v,v,vm fm
${name} RVM 66 ${map} ${opcode} -/${w} xyz k,v,vm ${memory}`,
  )
  .join('');

/** Extensions of lanes to wider ones: signed ones have the opcodes 20 to 25, unsigned ones 30 to 35. Narrowing has the same places in another map. */
const lengths = [
  ['bw', 'wb', 'h'],
  ['bd', 'db', 'q'],
  ['bq', 'qb', 'o'],
  ['wd', 'dw', 'h'],
  ['wq', 'qw', 'q'],
  ['dq', 'qd', 'h'],
]
  .map(
    ([wider, narrower, part], i) => `
vpmovsx${wider} RM 66 0f38 2${i} 0/0 xyz v,${part}m ${part}m
vpmovzx${wider} RM 66 0f38 3${i} 0/0 xyz v,${part}m ${part}m
vpmovus${narrower} MR f3 0f38 1${i} -/0 xyz ${part}m,v ${part}m
vpmovs${narrower} MR f3 0f38 2${i} -/0 xyz ${part}m,v ${part}m
vpmov${narrower} MR f3 0f38 3${i} -/0 xyz ${part}m,v ${part}m`,
  )
  .join('');

/** Masks of 8, 16, 32 and 64 bits: prefix and W of each. */
const masks = [
  ['b', '66', '0', '66', 'r32'],
  ['w', 'np', '0', 'np', 'r32'],
  ['d', '66', '1', 'f2', 'r32'],
  ['q', 'np', '1', 'f2', 'r64'],
]
  .map(([suffix, prefix, w, moving, register], i) => {
    const movingW = suffix === 'q' ? 1 : 0;
    const two = (name: string, opcode: string) => `\n${name}${suffix} RVM ${prefix} 0f ${opcode} ${w}/- y k,k,k n1`;
    const one = (name: string, opcode: string) => `\n${name}${suffix} RM ${prefix} 0f ${opcode} ${w}/- x k,k n1`;
    const shifted = (name: string, opcode: number) =>
      `\n${name}${suffix} RMI 66 0f3a ${(opcode + (i >> 1)).toString(16)} ${i & 1}/- x k,k,i n1`;
    return `${two('kand', '41')}${two('kandn', '42')}${two('kor', '45')}${two('kxnor', '46')}${two('kxor', '47')}${two('kadd', '4a')}
kmov${suffix} RM ${prefix} 0f 90 ${w}/- x k,km n${1 << i}
kmov${suffix} MR ${prefix} 0f 91 ${w}/- x m,k n${1 << i}
kmov${suffix} RM ${moving} 0f 92 ${movingW}/- x k,${register} n1
kmov${suffix} RM ${moving} 0f 93 ${movingW}/- x ${register},k n1${one('knot', '44')}${one('kortest', '98')}${one('ktest', '99')}${shifted(
      'kshiftr',
      0x30,
    )}${shifted('kshiftl', 0x32)}`;
  })
  .join('');

export const integerTable = `${binaries}${vexBinaries}${shifts}${comparisons}${lengths}${masks}
kunpckbw RVM 66 0f 4b 0/- y k,k,k n1
kunpckwd RVM np 0f 4b 0/- y k,k,k n1
kunpckdq RVM np 0f 4b 1/- y k,k,k n1
vpcmpb RVMI 66 0f3a 3f -/0 xyz k,v,vm,i fm
vpcmpw RVMI 66 0f3a 3f -/1 xyz k,v,vm,i fm
vpcmpd RVMI 66 0f3a 1f -/0 xyz k,v,vm,i f32
vpcmpq RVMI 66 0f3a 1f -/1 xyz k,v,vm,i f64
vpcmpub RVMI 66 0f3a 3e -/0 xyz k,v,vm,i fm
vpcmpuw RVMI 66 0f3a 3e -/1 xyz k,v,vm,i fm
vpcmpud RVMI 66 0f3a 1e -/0 xyz k,v,vm,i f32
vpcmpuq RVMI 66 0f3a 1e -/1 xyz k,v,vm,i f64
vptestmb RVM 66 0f38 26 -/0 xyz k,v,vm fm
vptestmw RVM 66 0f38 26 -/1 xyz k,v,vm fm
vptestmd RVM 66 0f38 27 -/0 xyz k,v,vm f32
vptestmq RVM 66 0f38 27 -/1 xyz k,v,vm f64
vptestnmb RVM f3 0f38 26 -/0 xyz k,v,vm fm
vptestnmw RVM f3 0f38 26 -/1 xyz k,v,vm fm
vptestnmd RVM f3 0f38 27 -/0 xyz k,v,vm f32
vptestnmq RVM f3 0f38 27 -/1 xyz k,v,vm f64
vpmovm2b RM f3 0f38 28 -/0 xyz v,k n1 unmasked
vpmovm2w RM f3 0f38 28 -/1 xyz v,k n1 unmasked
vpmovm2d RM f3 0f38 38 -/0 xyz v,k n1 unmasked
vpmovm2q RM f3 0f38 38 -/1 xyz v,k n1 unmasked
vpmovb2m RM f3 0f38 29 -/0 xyz k,v n1 unmasked
vpmovw2m RM f3 0f38 29 -/1 xyz k,v n1 unmasked
vpmovd2m RM f3 0f38 39 -/0 xyz k,v n1 unmasked
vpmovq2m RM f3 0f38 39 -/1 xyz k,v n1 unmasked
vpsraq RVM 66 0f e2 -/1 xyz v,v,xm n16
vpsraq VMI 66 0f 72/4 -/1 xyz v,vm,i f64
vprold VMI 66 0f 72/1 -/0 xyz v,vm,i f32
vprolq VMI 66 0f 72/1 -/1 xyz v,vm,i f64
vprord VMI 66 0f 72/0 -/0 xyz v,vm,i f32
vprorq VMI 66 0f 72/0 -/1 xyz v,vm,i f64
vpslldq VMI 66 0f 73/7 0/- xy v,v,i fm
vpslldq VMI 66 0f 73/7 -/0 xyz v,vm,i fm unmasked
vpsrldq VMI 66 0f 73/3 0/- xy v,v,i fm
vpsrldq VMI 66 0f 73/3 -/0 xyz v,vm,i fm unmasked
vpabsb RM 66 0f38 1c 0/0 xyz v,vm fm
vpabsw RM 66 0f38 1d 0/0 xyz v,vm fm
vpabsd RM 66 0f38 1e 0/0 xyz v,vm f32
vpabsq RM 66 0f38 1f -/1 xyz v,vm f64
vpternlogd RVMI 66 0f3a 25 -/0 xyz v,v,vm,i f32
vpternlogq RVMI 66 0f3a 25 -/1 xyz v,v,vm,i f64
vpshufd RMI 66 0f 70 0/0 xyz v,vm,i f32
vpshufhw RMI f3 0f 70 0/0 xyz v,vm,i fm
vpshuflw RMI f2 0f 70 0/0 xyz v,vm,i fm
vpalignr RVMI 66 0f3a 0f 0/0 xyz v,v,vm,i fm
valignd RVMI 66 0f3a 03 -/0 xyz v,v,vm,i f32
valignq RVMI 66 0f3a 03 -/1 xyz v,v,vm,i f64
vshufi32x4 RVMI 66 0f3a 43 -/0 yz v,v,vm,i f32
vshufi64x2 RVMI 66 0f3a 43 -/1 yz v,v,vm,i f64
vpermd RVM 66 0f38 36 0/0 yz v,v,vm f32
vpermq RVM 66 0f38 36 -/1 yz v,v,vm f64
vpermq RMI 66 0f3a 00 1/1 yz v,vm,i f64
vperm2i128 RVMI 66 0f3a 46 0/- y v,v,vm,i fm
vpblendw RVMI 66 0f3a 0e 0/- xy v,v,vm,i fm
vpblendd RVMI 66 0f3a 02 0/- xy v,v,vm,i fm
vpblendvb RVMS 66 0f3a 4c 0/- xy v,v,vm,v fm
vinserti128 RVMI 66 0f3a 38 0/- y y,y,xm,i n16
vextracti128 MRI 66 0f3a 39 0/- y xm,y,i n16
vinserti32x4 RVMI 66 0f3a 38 -/0 yz v,v,xm,i n16
vinserti64x2 RVMI 66 0f3a 38 -/1 yz v,v,xm,i n16
vinserti32x8 RVMI 66 0f3a 3a -/0 z v,v,ym,i n32
vinserti64x4 RVMI 66 0f3a 3a -/1 z v,v,ym,i n32
vextracti32x4 MRI 66 0f3a 39 -/0 yz xm,v,i n16
vextracti64x2 MRI 66 0f3a 39 -/1 yz xm,v,i n16
vextracti32x8 MRI 66 0f3a 3b -/0 z ym,v,i n32
vextracti64x4 MRI 66 0f3a 3b -/1 z ym,v,i n32
vpinsrb RVMI 66 0f3a 20 0/0 x x,x,rm32,i n1 unmasked
vpinsrw RVMI 66 0f c4 0/0 x x,x,rm32,i n2 unmasked
vpinsrd RVMI 66 0f3a 22 0/0 x x,x,rm32,i n4 unmasked
vpinsrq RVMI 66 0f3a 22 1/1 x x,x,rm64,i n8 unmasked
vpextrb MRI 66 0f3a 14 0/0 x rm32,x,i n1 unmasked
vpextrw RMI 66 0f c5 0/0 x r32,x,i n2
vpextrw MRI 66 0f3a 15 0/0 x m,x,i n2 unmasked
vpextrd MRI 66 0f3a 16 0/0 x rm32,x,i n4 unmasked
vpextrq MRI 66 0f3a 16 1/1 x rm64,x,i n8 unmasked
vpbroadcastb RM 66 0f38 78 0/0 xyz v,xm n1
vpbroadcastw RM 66 0f38 79 0/0 xyz v,xm n2
vpbroadcastd RM 66 0f38 58 0/0 xyz v,xm n4
vpbroadcastq RM 66 0f38 59 0/1 xyz v,xm n8
vpbroadcastb RM 66 0f38 7a -/0 xyz v,r32 n1
vpbroadcastw RM 66 0f38 7b -/0 xyz v,r32 n2
vpbroadcastd RM 66 0f38 7c -/0 xyz v,r32 n4
vpbroadcastq RM 66 0f38 7c -/1 xyz v,r64 n8
vbroadcasti128 RM 66 0f38 5a 0/- y y,m n16
vbroadcasti32x2 RM 66 0f38 59 -/0 xyz v,xm n8
vbroadcasti32x4 RM 66 0f38 5a -/0 yz v,m n16
vbroadcasti64x2 RM 66 0f38 5a -/1 yz v,m n16
vbroadcasti32x8 RM 66 0f38 5b -/0 z v,m n32
vbroadcasti64x4 RM 66 0f38 5b -/1 z v,m n32
vpcompressd MR 66 0f38 8b -/0 xyz vm,v e4
vpcompressq MR 66 0f38 8b -/1 xyz vm,v e8
vpexpandd RM 66 0f38 89 -/0 xyz v,vm e4
vpexpandq RM 66 0f38 89 -/1 xyz v,vm e8
vpgatherdd RM 66 0f38 90 -/0 xyz v,mv e4
vpgatherdq RM 66 0f38 90 -/1 xyz v,mh e8
vpopcntd RM 66 0f38 55 -/0 xyz v,vm f32
vpopcntq RM 66 0f38 55 -/1 xyz v,vm f64
vpmaskmovd RVM 66 0f38 8c 0/- xy v,v,m fm
vpmaskmovd MVR 66 0f38 8e 0/- xy m,v,v fm
vpmaskmovq RVM 66 0f38 8c 1/- xy v,v,m fm
vpmaskmovq MVR 66 0f38 8e 1/- xy m,v,v fm
vpmovmskb RM 66 0f d7 0/- xy r32,v n4
vptest RM 66 0f38 17 0/- xy v,vm fm
vmovntdq MR 66 0f e7 0/0 xyz m,v fm unmasked
vmovntdqa RM 66 0f38 2a 0/0 xyz v,m fm unmasked
vmovd RM 66 0f 6e 0/0 x x,rm32 n4 unmasked
vmovd MR 66 0f 7e 0/0 x rm32,x n4 unmasked
vmovq MR 66 0f d6 0/- x x,x n8 reverse
vmovq RM f3 0f 7e 0/1 x x,xm n8 unmasked
vmovq MR 66 0f d6 0/1 x m,x n8 unmasked
vmovq RM 66 0f 6e 1/1 x x,r64 n8 unmasked
vmovq MR 66 0f 7e 1/1 x r64,x n8 unmasked
andn RVM np 0f38 f2 r 48 r,r,rm -
bextr RMV np 0f38 f7 r 48 r,rm,r -
bzhi RMV np 0f38 f5 r 48 r,rm,r -
blsr VM np 0f38 f3/1 r 48 r,rm -
blsmsk VM np 0f38 f3/2 r 48 r,rm -
blsi VM np 0f38 f3/3 r 48 r,rm -
pdep RVM f2 0f38 f5 r 48 r,r,rm -
pext RVM f3 0f38 f5 r 48 r,r,rm -
mulx RVM f2 0f38 f6 r 48 r,r,rm -
shlx RMV 66 0f38 f7 r 48 r,rm,r -
shrx RMV f2 0f38 f7 r 48 r,rm,r -
sarx RMV f3 0f38 f7 r 48 r,rm,r -
rorx RMI f2 0f3a f0 r 48 r,rm,i -
`;
