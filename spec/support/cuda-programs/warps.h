// Host code of random programs of warps: every thread has eight words, and a step is taken by all threads of a mask for each warp.
#define EACH(MASKS)                                       \
  for (u32 warp = 0; warp < THREADS / 32; warp++)         \
    for (u32 lane = 0; lane < 32; lane++)                 \
      if ((MASKS)[warp] >> lane & 1)
static u32 state[THREADS][8], before[THREADS][8];
static void note() { memcpy(before, state, sizeof(state)); }
