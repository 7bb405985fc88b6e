/** Rows that no recording of an H200 has, with the tests that judge them. */
import type { Row } from '../../../src/ptx/model/row.ts';
import { isOfClusters, isOfPolicies, type SweepForm } from './forms.ts';

/** Where rows without a recording are tested. `word`: the reason applies to one modifier. */
export const reasons: readonly { readonly applies: (row: Row) => boolean; readonly word?: string; readonly why: string }[] = [
  { applies: ({ since }) => since.sm > 90, why: 'an H200 does not have it: worked examples of the table, exact arithmetic in spec/ptx' },
  {
    applies: ({ name }) => name === 'trap',
    why: 'it ends the launch, and with it what the driver does for the process: spec/device/stop.spec.ts',
  },
  {
    applies: ({ name }) => /^(alloca|stacksave|stackrestore)$/.test(name),
    why: 'of the stack of a thread, whose addresses are not specified: spec/lower/recursion.spec.ts',
  },
  {
    applies: ({ name }) => /^(tex|tld4|txq|suld|sust|suq)$/.test(name),
    why: 'of textures and surfaces, of which there are samples in spec/h200/textures.spec.ts: the manual’s formulas in spec/program/textures.spec.ts and arrays.spec.ts',
  },
  {
    applies: ({ name }) => name === 'istypep',
    why: 'an H200 gives 0 for handles of textures and surfaces, for null and for other addresses, of which no fixture is needed: worked examples of the table',
  },
  {
    applies: ({ syntax }) => syntax.startsWith('vshl') && syntax.includes('.sat'),
    why: 'of scalar video instructions, of which there are samples in spec/h200/video.spec.ts: worked examples of the table',
  },
  {
    applies: ({ withdrawn }) => withdrawn?.ptx !== undefined,
    why: 'removed from PTX before there was an H200: spec/device/small-forms.spec.ts',
  },
  {
    applies: ({ name }) => name === 'sured',
    why: 'of surfaces in a kernel of its own: words computed in spec/program/arrays.spec.ts and texel-stores.spec.ts',
  },
  {
    applies: ({ syntax }) => syntax.startsWith('fma.rn.oob'),
    why: 'compared over all bit patterns of each operand, by digests alone: worked examples of the table',
  },
  {
    applies: ({ syntax }) => /^v(add|sub|absdiff|min|max|mad|set)\.|^vshr.*\.sat|^vsh[lr].*mode\.op/.test(syntax),
    why: 'of scalar video instructions, of which there are samples in spec/h200/video.spec.ts: the rules of the code that NVIDIA’s compiler makes of them in spec/ptx/video.spec.ts',
  },
  {
    applies: ({ syntax }) => syntax.includes('.arrive') && !syntax.includes('mbarrier'),
    why: 'it has no result, and needs threads that wait: a program of an H200 in spec/device/named-barriers.spec.ts',
  },
  {
    applies: ({ name, syntax }) =>
      name === 'mbarrier' || name === 'tensormap' || /\.tensormap \[|\.mbarrier|async\.bulk|fence\.proxy|membar\.proxy/.test(syntax),
    why: 'of the asynchronous machine, of which there are samples in spec/h200/async.spec.ts: the manual’s rules in spec/device/mbarrier.spec.ts, bulk-copies.spec.ts and tensor-copies.spec.ts',
  },
  {
    applies: ({ name, syntax }) => name === 'wgmma' || syntax.startsWith('mma.variant'),
    why: 'of warp groups and sparse matrices, of which there are samples in spec/h200/wgmma.spec.ts and mma-sparse.spec.ts: the layouts of the manual in doubles and integers in spec/device/wgmma.spec.ts and mma-sparse.spec.ts',
  },
  {
    applies: ({ name, syntax }) =>
      name === 'multimem' ||
      /b128|\.v8\.|\.mmio|volatile\{\.space\}\.prefetch|\.evict2|noftz\.L2|\.vec\.(f32|type) (d, )?\[a\], b\{, policy/.test(syntax),
    why: 'of wide accesses, of which there is no recording yet: plain copies in spec/device/small-forms.spec.ts',
  },
  {
    applies: ({ name, syntax }) => /^(discard|pmevent|setmaxnreg|brkpt)$/.test(name) || syntax.includes('satfinite.tf32'),
    why: 'it has no result, or there is no recording yet: spec/device/small-forms.spec.ts',
  },
  { applies: isOfClusters, why: 'of clusters of blocks, of which there is no recording yet: the manual in spec/device/clusters.spec.ts' },
  { applies: isOfPolicies, why: 'a cache policy is a hint and no number, so that results are those without it: spec/ptx/policies.spec.ts' },
  {
    applies: ({ name }) => name === 'cvta',
    word: 'u32',
    why: 'of addresses of 32 bits, for which there is no driver: spec/lower/memory.spec.ts',
  },
];
/** Why a row, or one of its modifiers, is not recorded; undefined where it must be. */
export const reasonFor = (row: Row, word?: string): string | undefined =>
  reasons.find((each) => each.applies(row) && (each.word === undefined || each.word === word))?.why;

/** Whether a form must have a recorded result. */
export const isRecordable = ({ row }: SweepForm): boolean => reasonFor(row) === undefined;
