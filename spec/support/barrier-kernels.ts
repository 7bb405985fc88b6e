/** Kernels whose warps wait for each other at barriers in memory and at barriers for some of the threads, with what follows from the manual. */

/** One warp fills a ring of two stages, two warps take turns with each other to read it. */
export const ring = `
setp.ne.u32 p, tid, 0;
@p bra READY;
mbarrier.init.shared::cta.b64 [bar], 32;
mbarrier.init.shared::cta.b64 [bar+8], 32;
mbarrier.init.shared::cta.b64 [bar+16], 64;
mbarrier.init.shared::cta.b64 [bar+24], 64;
fence.mbarrier_init.release.cluster;
READY:
bar.sync 0;
mov.u32 turn, 0;
mov.u32 sum, 0;
LOOP:
and.b32 stage, turn, 1;
shr.u32 parity, turn, 1;
and.b32 parity, parity, 1;
mad.lo.u32 full, stage, 8, bar;
add.u32 empty, full, 16;
mad.lo.u32 slot, stage, 128, data;
setp.ge.u32 q, tid, 32;
@q bra CONSUME;
xor.b32 parity, parity, 1;
WAITS: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [empty], parity;
@!p bra WAITS;
mad.lo.u32 x, turn, 1000, tid;
mad.lo.u32 slot, tid, 4, slot;
st.shared.u32 [slot], x;
mbarrier.arrive.shared::cta.b64 _, [full];
bra NEXT;
CONSUME:
mbarrier.test_wait.parity.shared.b64 p, [full], parity;
@!p bra CONSUME;
and.b32 y, tid, 31;
xor.b32 y, y, 5;
mad.lo.u32 slot, y, 4, slot;
ld.shared.u32 x, [slot];
mad.lo.u32 sum, sum, 3, x;
mbarrier.arrive.shared.b64 state, [empty];
NEXT:
add.u32 turn, turn, 1;
setp.lt.u32 p, turn, 11;
@p bra LOOP;
mul.wide.u32 place, tid, 4;
add.u64 place, place, out;
st.global.u32 [place], sum;`;

/** The sums of the threads of a block of 96. */
export const ringExpected: readonly number[] = Array.from({ length: 96 }, (_, tid) => {
  let sum = 0;
  for (let turn = 0; turn < 11 && tid >= 32; turn++) sum = (Math.imul(sum, 3) + turn * 1000 + ((tid & 31) ^ 5)) | 0;
  return sum;
});

/**
 * Warps 0 and 1 hand numbers to warps 2 and 3 by a pair of barriers, as producers and consumers do, and count at a barrier with a reduction; all of
 * them then meet at one for the whole block.
 */
export const handed = `
and.b32 y, tid, 63;
mad.lo.u32 slot, y, 4, data;
mov.u32 turn, 0;
mov.u32 sum, 0;
LOOP:
setp.ge.u32 q, tid, 64;
@q bra TAKE;
bar.sync 2, 128;
mad.lo.u32 x, turn, 100, tid;
st.shared.u32 [slot], x;
bar.arrive 1, 128;
bra NEXT;
TAKE:
bar.arrive 2, 128;
bar.sync 1, 128;
xor.b32 x, y, 33;
mad.lo.u32 x, x, 4, data;
ld.shared.u32 x, [x];
mad.lo.u32 sum, sum, 3, x;
bar.sync 3, 64;
NEXT:
add.u32 turn, turn, 1;
setp.lt.u32 p, turn, 5;
@p bra LOOP;
setp.gt.u32 p, sum, 14000;
bar.red.popc.u32 x, 4, p;
mad.lo.u32 sum, sum, 1000, x;
mul.wide.u32 place, tid, 4;
add.u64 place, place, out;
st.global.u32 [place], sum;`;

/** The numbers of the threads of a block of 128. */
export const handedExpected: readonly number[] = (() => {
  const sums = Array.from({ length: 128 }, (_, tid) => {
    let sum = 0;
    for (let turn = 0; turn < 5 && tid >= 64; turn++) sum = Math.imul(sum, 3) + turn * 100 + ((tid & 63) ^ 33);
    return sum;
  });
  const count = sums.filter((sum) => sum > 14000).length;
  return sums.map((sum) => Math.imul(sum, 1000) + count);
})();

/** Blocks of which each is a cluster: addresses in the block itself, its barrier in two steps, and copies to the blocks of a mask. */
export const single = `
mov.u32 x, %cluster_ctarank;
mov.u32 y, %cluster_nctarank;
mad.lo.u32 sum, x, 10, y;
mov.u32 x, %clusterid.x;
mad.lo.u32 sum, sum, 10, x;
mov.u32 x, %cluster_ctaid.x;
mad.lo.u32 sum, sum, 10, x;
xor.b32 y, tid, 37;
mad.lo.u32 slot, tid, 4, data;
mapa.shared::cluster.u32 slot, slot, 0;
st.shared::cluster.u32 [slot], sum;
setp.ne.u32 p, tid, 0;
@p bra READY;
mbarrier.init.shared::cta.b64 [bar], 64;
fence.mbarrier_init.release.cluster;
READY:
barrier.cluster.arrive.release.aligned;
barrier.cluster.wait.acquire.aligned;
mapa.shared::cluster.u32 full, bar, 0;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [full];
WAITS: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [bar], 0;
@!p bra WAITS;
mad.lo.u32 slot, y, 4, data;
ld.shared.u32 x, [slot];
getctarank.shared::cluster.u32 y, slot;
add.u32 x, x, y;
add.u32 x, x, tid;
setp.eq.u32 p, tid, 5;
@p exit;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mov.u32 turn, %ctaid.x;
mad.lo.u32 turn, turn, 64, tid;
mul.wide.u32 place, turn, 4;
add.u64 place, place, out;
st.global.u32 [place], x;`;

/** The numbers of two blocks of 64 threads, of which thread 5 ends before the second barrier. */
export const singleExpected: readonly number[] = Array.from({ length: 128 }, (_, at) => {
  const [block, tid] = [at >> 6, at & 63];
  return tid === 5 ? 0 : 100 + 10 * block + tid;
});
