"""Recording of what the threads of one block give, form by form: two words in, four words out for each thread."""
import json
import struct

import cuda

POISON = 0xA5A5A5A5


HEAD = """.version 9.0
.target sm_90
.address_size 64

.visible .entry form(.param .u64 pa, .param .u64 pb, .param .u64 pd)
{
  .reg .pred p, q, r, s;
  .reg .b32 a, b, c, d0, d1, d2, d3, lane, i, t, n, m, x, y, base;
  .reg .b64 at, offset, w, v;
  .shared .align 4 .b32 cells[@CELLS];
  mov.u32 t, %tid.x;
  mov.u32 lane, %laneid;
@NUMBER  mul.wide.u32 offset, @INDEX, 4;
  ld.param.u64 at, [pa];
  add.s64 at, at, offset;
  ld.global.u32 a, [at];
  ld.param.u64 at, [pb];
  add.s64 at, at, offset;
  ld.global.u32 b, [at];
  mul.wide.u32 offset, @INDEX, 16;
  mov.b32 d0, 0xA5A5A5A5;
  mov.b32 d1, 0xA5A5A5A5;
  mov.b32 d2, 0xA5A5A5A5;
  mov.b32 d3, 0xA5A5A5A5;
"""

TAIL = """end:
  ld.param.u64 at, [pd];
  add.s64 at, at, offset;
  st.global.v4.u32 [at], {d0, d1, d2, d3};
  ret;
}
"""


def head_of(cells, number, index):
    """What all forms start with: so many words of shared memory, the lines that make the thread's number, and the register with it."""
    lines = ''.join(f'  {line}\n' for line in number)
    return HEAD.replace('@CELLS', str(cells)).replace('@NUMBER', lines).replace('@INDEX', index)


def kernel(head, code, tail):
    return head + ''.join(f'  {line}\n' for line in code) + tail


def words_of(count, rng):
    """Two columns of words of every magnitude for the largest block; smaller ones have the first of them."""
    return [[rng.getrandbits(32) >> rng.choice([0, 0, 8, 24]) for _ in range(count)] for _ in range(2)]


def run(text, block, a, b):
    """The four words of each thread, by word."""
    pack = lambda words: struct.pack(f'<{len(words)}I', *words)
    module = cuda.Module(text)
    args = [('buffer', pack(words)) for words in (a[:block], b[:block], [POISON] * 4 * block)]
    after = module.launch('form', [1, 1, 1], [block, 1, 1], 0, args)
    module.close()
    found = struct.unpack(f'<{4 * block}I', after[2])
    return [found[at::4] for at in range(4)]


def record(path, by, forms, head, tail, columns):
    """Runs the forms (name, lines of code between `head` and `tail`, threads) on two columns of words, and writes what they give."""
    show = lambda values: ' '.join(format(value, 'x') for value in values)
    a, b = columns
    lines = []
    for name, code, block in forms:
        written = [i for i in range(4) if any(f'd{i}' in line for line in code)]
        gave = run(kernel(head, code, tail), block, a, b)
        lines.append(json.dumps({'form': name, 'block': block, 'code': code, **{f'd{i}': show(gave[i]) for i in written}}))
    shared = {'head': head, 'tail': tail, 'a': show(a), 'b': show(b)}
    start = json.dumps({'recordedOn': cuda.describe(), 'recordedBy': f'scripts/record/{by}', **shared})[1:-1]
    with open(path, 'w') as file:
        file.write('{' + start + ', "forms": [\n' + ',\n'.join(lines) + '\n]}\n')
    print(f'{len(lines)} forms')
