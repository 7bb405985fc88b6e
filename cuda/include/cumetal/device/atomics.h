// Atomic functions: relaxed, for the device, the block or the system. Source: CUDA C++ Programming Guide, "Atomic Functions".
#ifndef __CUMETAL_DEVICE_ATOMICS_H__
#define __CUMETAL_DEVICE_ATOMICS_H__

// One instruction each, so that the scope is the instruction's.
#define __cumetal_atomic_two(name, T, letter, word) \
  __cumetal_device T name(T *address, T value) { \
    T old; \
    __asm__ volatile(word " %0, [%1], %2;" : "=" letter(old) : "l"(address), letter(value) : "memory"); \
    return old; \
  }
#define __cumetal_atomic_cas(name, T, letter, word) \
  __cumetal_device T name(T *address, T compare, T value) { \
    T old; \
    __asm__ volatile(word " %0, [%1], %2, %3;" : "=" letter(old) : "l"(address), letter(compare), letter(value) : "memory"); \
    return old; \
  }
#define __cumetal_scopes(shape, name, T, letter, operation) \
  shape(name, T, letter, "atom.relaxed.gpu." operation) \
  shape(name##_block, T, letter, "atom.relaxed.cta." operation) \
  shape(name##_system, T, letter, "atom.relaxed.sys." operation)
#define __cumetal_bits(T, letter, bits) \
  __cumetal_scopes(__cumetal_atomic_two, atomicAnd, T, letter, "and." bits) \
  __cumetal_scopes(__cumetal_atomic_two, atomicOr, T, letter, "or." bits) \
  __cumetal_scopes(__cumetal_atomic_two, atomicXor, T, letter, "xor." bits) \
  __cumetal_scopes(__cumetal_atomic_two, atomicExch, T, letter, "exch." bits) \
  __cumetal_scopes(__cumetal_atomic_cas, atomicCAS, T, letter, "cas." bits)
#define __cumetal_order(T, letter, type) \
  __cumetal_scopes(__cumetal_atomic_two, atomicMin, T, letter, "min." type) \
  __cumetal_scopes(__cumetal_atomic_two, atomicMax, T, letter, "max." type)

__cumetal_bits(int, "r", "b32")
__cumetal_bits(unsigned int, "r", "b32")
__cumetal_bits(unsigned long long, "l", "b64")
__cumetal_order(int, "r", "s32")
__cumetal_order(unsigned int, "r", "u32")
__cumetal_order(long long, "l", "s64")
__cumetal_order(unsigned long long, "l", "u64")
__cumetal_scopes(__cumetal_atomic_two, atomicAdd, int, "r", "add.s32")
__cumetal_scopes(__cumetal_atomic_two, atomicAdd, unsigned int, "r", "add.u32")
__cumetal_scopes(__cumetal_atomic_two, atomicAdd, unsigned long long, "l", "add.u64")
__cumetal_scopes(__cumetal_atomic_two, atomicAdd, float, "f", "add.f32")
__cumetal_scopes(__cumetal_atomic_two, atomicAdd, double, "d", "add.f64")
__cumetal_scopes(__cumetal_atomic_two, atomicInc, unsigned int, "r", "inc.u32")
__cumetal_scopes(__cumetal_atomic_two, atomicDec, unsigned int, "r", "dec.u32")
__cumetal_scopes(__cumetal_atomic_cas, atomicCAS, unsigned short, "h", "cas.b16")

// A subtraction is an addition of the negative value.
#define __cumetal_derived(suffix) \
  __cumetal_device int atomicSub##suffix(int *address, int value) { return atomicAdd##suffix(address, (int)(0u - (unsigned int)value)); } \
  __cumetal_device unsigned int atomicSub##suffix(unsigned int *address, unsigned int value) { return atomicAdd##suffix(address, 0u - value); } \
  __cumetal_device unsigned long long atomicSub##suffix(unsigned long long *address, unsigned long long value) { \
    return atomicAdd##suffix(address, 0ull - value); \
  } \
  __cumetal_device float atomicExch##suffix(float *address, float value) { \
    return __int_as_float(atomicExch##suffix((int *)address, __float_as_int(value))); \
  } \
  __cumetal_device long long atomicAnd##suffix(long long *address, long long value) { \
    return (long long)atomicAnd##suffix((unsigned long long *)address, (unsigned long long)value); \
  } \
  __cumetal_device long long atomicOr##suffix(long long *address, long long value) { \
    return (long long)atomicOr##suffix((unsigned long long *)address, (unsigned long long)value); \
  } \
  __cumetal_device long long atomicXor##suffix(long long *address, long long value) { \
    return (long long)atomicXor##suffix((unsigned long long *)address, (unsigned long long)value); \
  } \
  __cumetal_device float2 atomicAdd##suffix(float2 *address, float2 value) { \
    return {atomicAdd##suffix(&address->x, value.x), atomicAdd##suffix(&address->y, value.y)}; \
  } \
  __cumetal_device float4 atomicAdd##suffix(float4 *address, float4 value) { \
    return {atomicAdd##suffix(&address->x, value.x), atomicAdd##suffix(&address->y, value.y), atomicAdd##suffix(&address->z, value.z), \
            atomicAdd##suffix(&address->w, value.w)}; \
  }
__cumetal_derived()
__cumetal_derived(_block)
__cumetal_derived(_system)

#undef __cumetal_derived
#undef __cumetal_order
#undef __cumetal_bits
#undef __cumetal_scopes
#undef __cumetal_atomic_cas
#undef __cumetal_atomic_two

#endif
