"""Recording of what the threads of one block give, form by form: two words in, four words out for each thread."""
import json
import struct

import cuda

POISON = 0xA5A5A5A5


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
