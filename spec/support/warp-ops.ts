/** Kernels of one warp with results that are worked out here, for printers of source text. */

const head = '.version 8.0\n.target sm_80\n.address_size 64\n';

/** Words of each thread of `ops`. */
export const opsWords = 8;

/** Shifts by every count, quotients, and warp operations of a whole warp. */
export const ops = `${head}.visible .entry ops(.param .u64 out)
{
  .reg .pred p; .reg .b32 t, a, n, x; .reg .b64 o, w;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mul.wide.u32 w, t, ${4 * opsWords}; add.s64 o, o, w;
  mul.lo.u32 a, t, 0x9e3779b1; add.u32 n, t, 8;
  shl.b32 x, a, n; st.global.u32 [o], x;
  shr.s32 x, a, n; st.global.u32 [o+4], x;
  sub.s32 x, t, 16; div.s32 x, a, x; st.global.u32 [o+8], x;
  redux.sync.max.s32 x, a, -1; st.global.u32 [o+12], x;
  redux.sync.min.u32 x, n, -1; st.global.u32 [o+16], x;
  shfl.sync.bfly.b32 x, a, 5, 31, -1; st.global.u32 [o+20], x;
  setp.lt.s32 p, a, 0; vote.sync.ballot.b32 x, p, -1; st.global.u32 [o+24], x;
  max.s32 x, a, n; st.global.u32 [o+28], x;
  ret;
}`;

const lanes = Array.from({ length: 32 }, (_, t) => t);
const value = (t: number): number => Math.imul(t, 0x9e3779b1);

/** What the threads of `ops` store. */
export function opsExpected(): number[] {
  const ballot = lanes.reduce((bits, t) => bits | (value(t) < 0 ? 1 << t : 0), 0);
  return lanes.flatMap((t) => {
    const [a, n] = [value(t), t + 8];
    const words = [
      n < 32 ? a << n : 0,
      a >> Math.min(n, 31),
      // A quotient by zero is all ones.
      t === 16 ? -1 : Math.trunc(a / (t - 16)),
      Math.max(...lanes.map(value)),
      8,
      value(t ^ 5),
      ballot,
      Math.max(a, n),
    ];
    return words.map((word) => word >>> 0);
  });
}

/** Ballots and shuffles in both arms of a branch, by masks of their own and of all. */
export const arms = `${head}.visible .entry arms(.param .u64 out)
{
  .reg .pred p, q; .reg .b32 t, x, y; .reg .b64 o, w;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mul.wide.u32 w, t, 8; add.s64 o, o, w;
  and.b32 x, t, 1; setp.ne.u32 q, x, 0;
  setp.lt.u32 p, t, 12; @p bra low;
  vote.sync.ballot.b32 x, q, 0xfffff000;
  shfl.sync.idx.b32 y, t, 20, 31, -1;
  bra over;
low:
  vote.sync.ballot.b32 x, q, 0xfff;
  add.u32 y, t, 100;
  shfl.sync.idx.b32 y, y, 3, 31, -1;
over:
  st.global.v2.u32 [o], {x, y};
  ret;
}`;

/** What the threads of `arms` store. */
export const armsExpected = (): number[] => lanes.flatMap((t) => (t < 12 ? [0xaaa, 103] : [0xaaaaa000, 20]));

/** Each half of the lanes waits for a lane of the other one, which waits by another mask. */
export const stuck = `${head}.visible .entry stuck(.param .u64 out)
{
  .reg .pred p; .reg .b32 t; .reg .b64 o;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x;
  setp.lt.u32 p, t, 16; @p bra low;
  bar.warp.sync 0xffff0001;
  bra over;
low:
  bar.warp.sync 0x1ffff;
over:
  st.global.u32 [o], t;
  ret;
}`;
