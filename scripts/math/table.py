"""The table of directed rounding in docs/floating-point.md, from what `scripts/record/math.py` wrote: `table.py RESULTS.json`.

A cell has the ratios of rounding towards zero, upwards and downwards.
"""
import json
import sys

operations = {
    'add': ('__fadd', '__dadd'),
    'mul': ('__fmul', '__dmul'),
    'fma': ('__fmaf', '__fma'),
    'div': ('__fdiv', '__ddiv'),
    'rcp': ('__frcp', '__drcp'),
    'sqrt': ('__fsqrt', '__dsqrt'),
}


def ratios(path):
    with open(path) as file:
        return {row['name']: row['ratio'] for row in json.load(file)['rows'] if 'ratio' in row}


def cell(rows, name):
    found = [rows.get(f'{name}_{way}') for way in ('rz', 'ru', 'rd')]
    return ', '.join(f'{ratio:.2f}' for ratio in found) if all(found) else '–'


rows = ratios(sys.argv[1])
print('| | f32 | f64 |\n| --- | --- | --- |')
for operation, names in operations.items():
    print(f'| `{operation}` | ' + ' | '.join(cell(rows, name) for name in names) + ' |')
