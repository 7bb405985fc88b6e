"""Runs many programs on an NVIDIA GPU: a digest of what each leaves.

usage: python3 scripts/record/digests.py PROGRAMS.json.gz OUT.json [NUMBER ...]

PROGRAMS.json.gz is what `bun scripts/fuzz.ts write` or `bun scripts/sweep.ts write` made. With numbers, OUT.json has all the
bytes (hexadecimal) of these programs instead. DIGEST_LEVEL in the environment says how much the driver's compiler optimises,
0 to 4: 0 unless told otherwise, since it optimises with faults.
"""
import gzip
import hashlib
import json
import multiprocessing
import os
import sys

import cuda

with gzip.open(sys.argv[1]) as file:
    DATA = json.load(file)
# What is handed over after the input and the output, by value.
VALUES = [('value', bytes.fromhex(value)) for value in DATA.get('values', [])]
INPUT = ('buffer', bytes.fromhex(DATA['input']))
LEVEL = int(os.environ.get('DIGEST_LEVEL', '0'))


def run(number):
    try:
        module = cuda.Module(DATA['programs'][number - DATA['from']], LEVEL)
        size = DATA['threads'] * DATA['bytesOfThread']
        args = [INPUT, ('buffer', b'\xa5' * size), *VALUES]
        after = module.launch(DATA['kernel'], [1, 1, 1], [DATA['threads'], 1, 1], 0, args)
        module.close()
        return after[1]
    except RuntimeError as error:
        return str(error)


def digest(number):
    after = run(number)
    return after if isinstance(after, str) else hashlib.sha256(after).hexdigest()[:8]


def main():
    picked = [int(word) for word in sys.argv[3:]]
    # The driver is opened by each worker for itself.
    with multiprocessing.get_context('spawn').Pool(8) as pool:
        if picked:
            after = pool.map(run, picked)
            out = {number: each if isinstance(each, str) else each.hex() for number, each in zip(picked, after)}
        else:
            numbers = range(DATA['from'], DATA['from'] + len(DATA['programs']))
            digests = pool.map(digest, numbers, 50)
            failed = [f'{number}: {each}' for number, each in zip(numbers, digests) if len(each) != 8]
            print('\n'.join(failed))
            print(f'{len(digests)} programs, {len(failed)} without result')
            out = {'recordedOn': cuda.describe(), 'recordedBy': 'scripts/record/digests.py', 'from': DATA['from'], 'digests': lines_of(digests)}
    with open(sys.argv[2], 'w') as file:
        file.write(json.dumps(out, indent=0) + '\n')


def lines_of(digests):
    """Twenty to a line, or each on a line of its own beside its name where programs have names."""
    names = DATA.get('names')
    if names:
        return [f'{each} {name}' for each, name in zip(digests, names)]
    return [' '.join(digests[i : i + 20]) for i in range(0, len(digests), 20)]


if __name__ == '__main__':
    main()
