/**
 * The opcodes of chapters whose rows are created on first use of one of them, because most programs use few of them. Their files export a
 * function that returns the rows.
 */

const packedVideo = ['vadd', 'vsub', 'vavrg', 'vabsdiff', 'vmin', 'vmax', 'vset'].map((name) => `${name}2 ${name}4`).join(' ');

/** All opcodes of each chapter, separated by spaces. No other row has one of them, except refused rows. */
export const lazyOpcodes = {
  bits: 'popc clz bfind brev bfe bfi szext bmsk fns sad mul24 mad24 dp4a dp2a lop3 shf prmt slct copysign testp',
  hints: 'prefetch prefetchu applypriority discard tensormap',
  asyncCopies: 'cp',
  atomics: 'atom red',
  wmma: 'wmma',
  mma: 'mma',
  wgmma: 'wgmma',
  tensorMemory: 'tcgen05',
  tiles: 'ldmatrix stmatrix movmatrix',
  fences: 'membar fence',
  barriers: 'mbarrier',
  textures: 'tex tld4 txq istypep',
  surfaces: 'suld sust sured suq',
  clusters: 'mapa getctarank',
  multimem: 'multimem',
  launchControl: 'clusterlaunchcontrol',
  scalarVideo: 'vadd vsub vabsdiff vmin vmax vshl vshr vmad vset',
  video: packedVideo,
} as const satisfies Record<string, string>;
