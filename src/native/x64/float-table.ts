/**
 * Instructions on vectors of floats, and the moves of vectors, in the format that `integer-table.ts` describes.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
 */

/** A row for each format of floats: of vectors of f32 and f64, and of scalars. */
const packed = (name: string, roles: string, opcode: string, operands: string) => `
${name}ps ${roles} np 0f ${opcode} 0/0 xyz ${operands} f32
${name}pd ${roles} 66 0f ${opcode} 0/1 xyz ${operands} f64`;
const scalars = (name: string, opcode: string) => `
${name}ss RVM f3 0f ${opcode} 0/0 x x,x,xm n4
${name}sd RVM f2 0f ${opcode} 0/1 x x,x,xm n8`;

const arithmetic = [
  ['vadd', '58'],
  ['vmul', '59'],
  ['vsub', '5c'],
  ['vmin', '5d'],
  ['vdiv', '5e'],
  ['vmax', '5f'],
]
  .map(([name, opcode]) => packed(name!, 'RVM', opcode!, 'v,v,vm') + scalars(name!, opcode!))
  .join('');

const logic = [
  ['vand', '54'],
  ['vandn', '55'],
  ['vor', '56'],
  ['vxor', '57'],
  ['vunpckl', '14'],
  ['vunpckh', '15'],
]
  .map(([name, opcode]) => packed(name!, 'RVM', opcode!, 'v,v,vm'))
  .join('');

/** Fused operations: the opcode of vectors in the order 132; 213 is 16 further, 231 is 32 further, scalars are the next one. */
const fused = [
  ['vfmaddsub', 0x96, false],
  ['vfmsubadd', 0x97, false],
  ['vfmadd', 0x98, true],
  ['vfmsub', 0x9a, true],
  ['vfnmadd', 0x9c, true],
  ['vfnmsub', 0x9e, true],
]
  .flatMap(([name, first, hasScalars]) =>
    ['132', '213', '231'].map((order, i) => {
      const opcode = ((first as number) + 16 * i).toString(16);
      const scalar = ((first as number) + 16 * i + 1).toString(16);
      return `
${name}${order}ps RVM 66 0f38 ${opcode} 0/0 xyz v,v,vm f32
${name}${order}pd RVM 66 0f38 ${opcode} 1/1 xyz v,v,vm f64${
        hasScalars
          ? `
${name}${order}ss RVM 66 0f38 ${scalar} 0/0 x x,x,xm n4
${name}${order}sd RVM 66 0f38 ${scalar} 1/1 x x,x,xm n8`
          : ''
      }`;
    }),
  )
  .join('');

/** Moves of whole vectors: mnemonic, prefix, opcodes of the load and the store, W. */
const moves = [
  ['vmovaps', 'np', '28', '29', '0/0'],
  ['vmovapd', '66', '28', '29', '0/1'],
  ['vmovups', 'np', '10', '11', '0/0'],
  ['vmovupd', '66', '10', '11', '0/1'],
  ['vmovdqa', '66', '6f', '7f', '0/-'],
  ['vmovdqu', 'f3', '6f', '7f', '0/-'],
  ['vmovdqa32', '66', '6f', '7f', '-/0'],
  ['vmovdqa64', '66', '6f', '7f', '-/1'],
  ['vmovdqu8', 'f2', '6f', '7f', '-/0'],
  ['vmovdqu16', 'f2', '6f', '7f', '-/1'],
  ['vmovdqu32', 'f3', '6f', '7f', '-/0'],
  ['vmovdqu64', 'f3', '6f', '7f', '-/1'],
]
  .map(
    ([name, prefix, load, store, w]) => `
${name} MR ${prefix} 0f ${store} ${w!.replace(/.$/, '-')} xy v,v fm reverse
${name} RM ${prefix} 0f ${load} ${w} xyz v,vm fm
${name} MR ${prefix} 0f ${store} ${w} xyz m,v fm`,
  )
  .join('');

export const floatTable = `${arithmetic}${logic}${fused}${moves}${packed('vsqrt', 'RM', '51', 'v,vm')}${scalars('vsqrt', '51')}
vcmpps RVMI np 0f c2 0/- xy v,v,vm,i f32
vcmppd RVMI 66 0f c2 0/- xy v,v,vm,i f64
vcmpss RVMI f3 0f c2 0/- x x,x,xm,i n4
vcmpsd RVMI f2 0f c2 0/- x x,x,xm,i n8
vcmpps RVMI np 0f c2 -/0 xyz k,v,vm,i f32
vcmppd RVMI 66 0f c2 -/1 xyz k,v,vm,i f64
vcmpss RVMI f3 0f c2 -/0 x k,x,xm,i n4
vcmpsd RVMI f2 0f c2 -/1 x k,x,xm,i n8
vcomiss RM np 0f 2f 0/0 x x,xm n4 unmasked
vcomisd RM 66 0f 2f 0/1 x x,xm n8 unmasked
vucomiss RM np 0f 2e 0/0 x x,xm n4 unmasked
vucomisd RM 66 0f 2e 0/1 x x,xm n8 unmasked
vroundps RMI 66 0f3a 08 0/- xy v,vm,i fm
vroundpd RMI 66 0f3a 09 0/- xy v,vm,i fm
vroundss RVMI 66 0f3a 0a 0/- x x,x,xm,i n4
vroundsd RVMI 66 0f3a 0b 0/- x x,x,xm,i n8
vrndscaleps RMI 66 0f3a 08 -/0 xyz v,vm,i f32
vrndscalepd RMI 66 0f3a 09 -/1 xyz v,vm,i f64
vrndscaless RVMI 66 0f3a 0a -/0 x x,x,xm,i n4
vrndscalesd RVMI 66 0f3a 0b -/1 x x,x,xm,i n8
vrangeps RVMI 66 0f3a 50 -/0 xyz v,v,vm,i f32
vrangepd RVMI 66 0f3a 50 -/1 xyz v,v,vm,i f64
vfpclassps RMI 66 0f3a 66 -/0 xyz k,vm,i f32
vfpclasspd RMI 66 0f3a 66 -/1 xyz k,vm,i f64
vfixupimmps RVMI 66 0f3a 54 -/0 xyz v,v,vm,i f32
vfixupimmpd RVMI 66 0f3a 54 -/1 xyz v,v,vm,i f64
vscalefps RVM 66 0f38 2c -/0 xyz v,v,vm f32
vscalefpd RVM 66 0f38 2c -/1 xyz v,v,vm f64
vgetexpps RM 66 0f38 42 -/0 xyz v,vm f32
vgetexppd RM 66 0f38 42 -/1 xyz v,vm f64
vgetmantps RMI 66 0f3a 26 -/0 xyz v,vm,i f32
vgetmantpd RMI 66 0f3a 26 -/1 xyz v,vm,i f64
vhaddps RVM f2 0f 7c 0/- xy v,v,vm fm
vhaddpd RVM 66 0f 7c 0/- xy v,v,vm fm
vblendps RVMI 66 0f3a 0c 0/- xy v,v,vm,i fm
vblendpd RVMI 66 0f3a 0d 0/- xy v,v,vm,i fm
vblendvps RVMS 66 0f3a 4a 0/- xy v,v,vm,v fm
vblendvpd RVMS 66 0f3a 4b 0/- xy v,v,vm,v fm
vblendmps RVM 66 0f38 65 -/0 xyz v,v,vm f32
vblendmpd RVM 66 0f38 65 -/1 xyz v,v,vm f64
vshufps RVMI np 0f c6 0/0 xyz v,v,vm,i f32
vshufpd RVMI 66 0f c6 0/1 xyz v,v,vm,i f64
vshuff32x4 RVMI 66 0f3a 23 -/0 yz v,v,vm,i f32
vshuff64x2 RVMI 66 0f3a 23 -/1 yz v,v,vm,i f64
vpermilps RVM 66 0f38 0c 0/0 xyz v,v,vm f32
vpermilpd RVM 66 0f38 0d 0/1 xyz v,v,vm f64
vpermilps RMI 66 0f3a 04 0/0 xyz v,vm,i f32
vpermilpd RMI 66 0f3a 05 0/1 xyz v,vm,i f64
vpermps RVM 66 0f38 16 0/0 yz v,v,vm f32
vpermpd RVM 66 0f38 16 -/1 yz v,v,vm f64
vpermpd RMI 66 0f3a 01 1/1 yz v,vm,i f64
vpermt2ps RVM 66 0f38 7f -/0 xyz v,v,vm f32
vpermt2pd RVM 66 0f38 7f -/1 xyz v,v,vm f64
vpermi2ps RVM 66 0f38 77 -/0 xyz v,v,vm f32
vpermi2pd RVM 66 0f38 77 -/1 xyz v,v,vm f64
vperm2f128 RVMI 66 0f3a 06 0/- y v,v,vm,i fm
vinsertps RVMI 66 0f3a 21 0/0 x x,x,xm,i n4 unmasked
vextractps MRI 66 0f3a 17 0/0 x rm32,x,i n4 unmasked
vinsertf128 RVMI 66 0f3a 18 0/- y y,y,xm,i n16
vextractf128 MRI 66 0f3a 19 0/- y xm,y,i n16
vinsertf32x4 RVMI 66 0f3a 18 -/0 yz v,v,xm,i n16
vinsertf64x2 RVMI 66 0f3a 18 -/1 yz v,v,xm,i n16
vinsertf32x8 RVMI 66 0f3a 1a -/0 z v,v,ym,i n32
vinsertf64x4 RVMI 66 0f3a 1a -/1 z v,v,ym,i n32
vextractf32x4 MRI 66 0f3a 19 -/0 yz xm,v,i n16
vextractf64x2 MRI 66 0f3a 19 -/1 yz xm,v,i n16
vextractf32x8 MRI 66 0f3a 1b -/0 z ym,v,i n32
vextractf64x4 MRI 66 0f3a 1b -/1 z ym,v,i n32
vbroadcastss RM 66 0f38 18 0/0 xyz v,xm n4
vbroadcastsd RM 66 0f38 19 0/1 yz v,xm n8
vbroadcastf128 RM 66 0f38 1a 0/- y y,m n16
vbroadcastf32x2 RM 66 0f38 19 -/0 yz v,xm n8
vbroadcastf32x4 RM 66 0f38 1a -/0 yz v,m n16
vbroadcastf64x2 RM 66 0f38 1a -/1 yz v,m n16
vbroadcastf32x8 RM 66 0f38 1b -/0 z v,m n32
vbroadcastf64x4 RM 66 0f38 1b -/1 z v,m n32
vcompressps MR 66 0f38 8a -/0 xyz vm,v e4
vcompresspd MR 66 0f38 8a -/1 xyz vm,v e8
vexpandps RM 66 0f38 88 -/0 xyz v,vm e4
vexpandpd RM 66 0f38 88 -/1 xyz v,vm e8
vmovss MVR f3 0f 11 0/- x x,x,x n4 reverse
vmovss RVM f3 0f 10 0/0 x x,x,x n4
vmovss RM f3 0f 10 0/0 x x,m n4
vmovss MR f3 0f 11 0/0 x m,x n4
vmovsd MVR f2 0f 11 0/- x x,x,x n8 reverse
vmovsd RVM f2 0f 10 0/1 x x,x,x n8
vmovsd RM f2 0f 10 0/1 x x,m n8
vmovsd MR f2 0f 11 0/1 x m,x n8
vmovlps RVM np 0f 12 0/0 x x,x,m n8 unmasked
vmovlps MR np 0f 13 0/0 x m,x n8 unmasked
vmovlpd RVM 66 0f 12 0/1 x x,x,m n8 unmasked
vmovlpd MR 66 0f 13 0/1 x m,x n8 unmasked
vmovhps RVM np 0f 16 0/0 x x,x,m n8 unmasked
vmovhps MR np 0f 17 0/0 x m,x n8 unmasked
vmovhpd RVM 66 0f 16 0/1 x x,x,m n8 unmasked
vmovhpd MR 66 0f 17 0/1 x m,x n8 unmasked
vmovlhps RVM np 0f 16 0/0 x x,x,x n8 unmasked
vmovhlps RVM np 0f 12 0/0 x x,x,x n8 unmasked
vmovddup RM f2 0f 12 0/1 xyz v,vm dup
vmovshdup RM f3 0f 16 0/0 xyz v,vm fm
vmovsldup RM f3 0f 12 0/0 xyz v,vm fm
vmovntps MR np 0f 2b 0/0 xyz m,v fm unmasked
vmovntpd MR 66 0f 2b 0/1 xyz m,v fm unmasked
vmovmskps RM np 0f 50 0/- xy r32,v n4
vmovmskpd RM 66 0f 50 0/- xy r32,v n4
vmaskmovps RVM 66 0f38 2c 0/- xy v,v,m fm
vmaskmovps MVR 66 0f38 2e 0/- xy m,v,v fm
vmaskmovpd RVM 66 0f38 2d 0/- xy v,v,m fm
vmaskmovpd MVR 66 0f38 2f 0/- xy m,v,v fm
vtestps RM 66 0f38 0e 0/- xy v,vm fm
vtestpd RM 66 0f38 0f 0/- xy v,vm fm
vcvtdq2ps RM np 0f 5b 0/0 xyz v,vm f32
vcvtps2dq RM 66 0f 5b 0/0 xyz v,vm f32
vcvttps2dq RM f3 0f 5b 0/0 xyz v,vm f32
vcvtdq2pd RM f3 0f e6 0/0 xyz v,hm h32
vcvtpd2dq RM f2 0f e6 0/1 xyz h,vm f64
vcvttpd2dq RM 66 0f e6 0/1 xyz h,vm f64
vcvtps2pd RM np 0f 5a 0/0 xyz v,hm h32
vcvtpd2ps RM 66 0f 5a 0/1 xyz h,vm f64
vcvtss2sd RVM f3 0f 5a 0/0 x x,x,xm n4
vcvtsd2ss RVM f2 0f 5a 0/1 x x,x,xm n8
vcvtsi2ss RVM f3 0f 2a 0/0 x x,x,rm32 n4 unmasked
vcvtsi2ss RVM f3 0f 2a 1/1 x x,x,rm64 n8 unmasked
vcvtsi2sd RVM f2 0f 2a 0/0 x x,x,rm32 n4 unmasked
vcvtsi2sd RVM f2 0f 2a 1/1 x x,x,rm64 n8 unmasked
vcvtss2si RM f3 0f 2d 0/0 x r32,xm n4
vcvtss2si RM f3 0f 2d 1/1 x r64,xm n4
vcvtsd2si RM f2 0f 2d 0/0 x r32,xm n8
vcvtsd2si RM f2 0f 2d 1/1 x r64,xm n8
vcvttss2si RM f3 0f 2c 0/0 x r32,xm n4
vcvttss2si RM f3 0f 2c 1/1 x r64,xm n4
vcvttsd2si RM f2 0f 2c 0/0 x r32,xm n8
vcvttsd2si RM f2 0f 2c 1/1 x r64,xm n8
vcvtusi2ss RVM f3 0f 7b -/0 x x,x,rm32 n4 unmasked
vcvtusi2ss RVM f3 0f 7b -/1 x x,x,rm64 n8 unmasked
vcvtusi2sd RVM f2 0f 7b -/0 x x,x,rm32 n4 unmasked
vcvtusi2sd RVM f2 0f 7b -/1 x x,x,rm64 n8 unmasked
vcvtss2usi RM f3 0f 79 -/0 x r32,xm n4
vcvtss2usi RM f3 0f 79 -/1 x r64,xm n4
vcvtsd2usi RM f2 0f 79 -/0 x r32,xm n8
vcvtsd2usi RM f2 0f 79 -/1 x r64,xm n8
vcvttss2usi RM f3 0f 78 -/0 x r32,xm n4
vcvttss2usi RM f3 0f 78 -/1 x r64,xm n4
vcvttsd2usi RM f2 0f 78 -/0 x r32,xm n8
vcvttsd2usi RM f2 0f 78 -/1 x r64,xm n8
vcvtudq2ps RM f2 0f 7a -/0 xyz v,vm f32
vcvtudq2pd RM f3 0f 7a -/0 xyz v,hm h32
vcvtps2udq RM np 0f 79 -/0 xyz v,vm f32
vcvttps2udq RM np 0f 78 -/0 xyz v,vm f32
vcvtpd2udq RM np 0f 79 -/1 xyz h,vm f64
vcvttpd2udq RM np 0f 78 -/1 xyz h,vm f64
vcvtqq2ps RM np 0f 5b -/1 xyz h,vm f64
vcvtqq2pd RM f3 0f e6 -/1 xyz v,vm f64
vcvtuqq2ps RM f2 0f 7a -/1 xyz h,vm f64
vcvtuqq2pd RM f3 0f 7a -/1 xyz v,vm f64
vcvtps2qq RM 66 0f 7b -/0 xyz v,hm h32
vcvttps2qq RM 66 0f 7a -/0 xyz v,hm h32
vcvtps2uqq RM 66 0f 79 -/0 xyz v,hm h32
vcvttps2uqq RM 66 0f 78 -/0 xyz v,hm h32
vcvtpd2qq RM 66 0f 7b -/1 xyz v,vm f64
vcvttpd2qq RM 66 0f 7a -/1 xyz v,vm f64
vcvtpd2uqq RM 66 0f 79 -/1 xyz v,vm f64
vcvttpd2uqq RM 66 0f 78 -/1 xyz v,vm f64
vcvtph2ps RM 66 0f38 13 0/0 xyz v,hm hm
vcvtps2ph MRI 66 0f3a 1d 0/0 xyz hm,v,i hm
vzeroupper - np 0f 77 0/- x - -
vzeroall - np 0f 77 0/- y - -
vldmxcsr M np 0f ae/2 0/- x m n4
vstmxcsr M np 0f ae/3 0/- x m n4
`;
