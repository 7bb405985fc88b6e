/** Helper functions of the Metal Shading Language: the definition of each by its name. */
import { bug } from '../../base/bug.ts';
import { type Helper, helperOf as shared } from '../opencl/helpers.ts';

const ownHelpers: Readonly<Record<string, Helper>> = {
  ulong_of: {
    text: 'static ulong ulong_of(uchar4 low, uchar4 high) {\n  return (ulong)as_type<uint>(low) | ((ulong)as_type<uint>(high) << 32);\n}',
  },
  window_at: {
    text: `// A place in threadgroup memory: the kernel's own, and behind it that of the launch.
static threadgroup uchar *window_at(threadgroup uchar *own, threadgroup uchar *more, ulong start, ulong at) {
  return at < start ? own + at : more + (at - start);
}`,
  },
};

const cas = (space: string): Helper => ({
  text: `static uint cas_${space}(volatile ${space} atomic_uint *at, uint wanted, uint value) {
  uint found = wanted;
  while (!atomic_compare_exchange_weak_explicit(at, &found, value, memory_order_relaxed, memory_order_relaxed))
    if (found != wanted) break;
  return found;
}`,
});

/** The definition of a helper by its key; shifts, divisions and conversions are those of OpenCL C. */
export function helperOf(key: string): Helper {
  const own = ownHelpers[key];
  if (own) return own;
  if (key.startsWith('cas_')) return cas(key.slice(4));
  if (/^(shl|lshr|ashr|udiv|urem|sdiv|srem|one|ord|sat)_/.test(key)) {
    const { text, needs = [] } = shared(key);
    return { text: text.replace(/\(ulong\)1 <</g, '1ul <<'), needs };
  }
  return bug(`no helper ${key}`);
}
