"""Records what an NVIDIA GPU gives for each form of scalar_forms.py: fixtures/h200/scalar.json.

usage: python3 scripts/record/scalar.py OUT.json [PART]  on a machine with the GPU; with PART the forms alone that have it
       python3 scripts/record/scalar.py --check         which forms ptxas refuses (no GPU needed)
"""
import json
import struct
import sys

import cuda
import scalar_forms
from common import check


def hex_of(kind, value):
    return str(value) if kind == 'pred' else format(value, f'0{int(kind[1:]) // 4}x')


def run(form, result, operands, inputs):
    count = len(inputs)
    columns = [struct.pack(f'<{count}Q', *column) for column in zip(*inputs)]
    args = [('buffer', column) for column in columns] + [('buffer', bytes(8 * count)), ('value', struct.pack('<I', count))]
    module = cuda.Module(scalar_forms.kernel(form, result, operands))
    after = module.launch('form', [(count + 127) // 128, 1, 1], [128, 1, 1], 0, args)
    module.close()
    return struct.unpack(f'<{count}Q', after[len(operands)])


def record(path, part):
    refused, lines, cases = [], [], 0
    for form, result, operands, inputs in scalar_forms.forms():
        inputs = list(dict.fromkeys(inputs))
        if part not in form:
            continue
        try:
            outputs = run(form, result, operands, inputs)
        except RuntimeError as error:
            refused.append(f'{form}: {error}')
            continue
        rows = [' '.join([*map(hex_of, operands, row), hex_of(result, out)]) for row, out in zip(inputs, outputs)]
        cases += len(rows)
        lines.append(json.dumps({'ptx': form.split()[0], 'form': form, 'operands': operands, 'result': result, 'cases': rows}))
    head = json.dumps({'recordedOn': cuda.describe(), 'recordedBy': 'scripts/record/scalar.py'})[1:-1]
    with open(path, 'w') as file:
        file.write('{' + head + ', "forms": [\n' + ',\n'.join(lines) + '\n]}\n')
    print(f'{len(lines)} forms, {cases} cases; the driver refused {len(refused)}')
    print('\n'.join(refused))


if sys.argv[1:] == ['--check']:
    check((form, scalar_forms.kernel(form, result, operands)) for form, result, operands, _ in scalar_forms.forms())
else:
    record(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else '')
