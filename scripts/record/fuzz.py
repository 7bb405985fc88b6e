"""Runs the programs of `bun scripts/fuzz.ts write` on an NVIDIA GPU: a digest of what each leaves.

usage: python3 scripts/record/fuzz.py PROGRAMS.json.gz OUT.json [NUMBER ...]

With numbers, OUT.json has all the bytes (hexadecimal) of these programs instead. The driver's compiler is kept from
optimising, which it does with faults; FUZZ_LEVEL=4 in the environment lets it.
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
INPUT = bytes.fromhex(DATA['input'])
LEVEL = int(os.environ.get('FUZZ_LEVEL', '0'))


def run(number):
    try:
        module = cuda.Module(DATA['programs'][number - DATA['from']], LEVEL)
        size = DATA['threads'] * DATA['bytesOfThread']
        after = module.launch('fuzz', [1, 1, 1], [DATA['threads'], 1, 1], 0, [('buffer', INPUT), ('buffer', b'\xa5' * size)])
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
            lines = [' '.join(digests[i : i + 20]) for i in range(0, len(digests), 20)]
            out = {'recordedOn': cuda.describe(), 'recordedBy': 'scripts/record/fuzz.py', 'from': DATA['from'], 'digests': lines}
            print(f'{len(digests)} programs, {sum(len(each) != 8 for each in digests)} without result')
    with open(sys.argv[2], 'w') as file:
        file.write(json.dumps(out, indent=0) + '\n')


if __name__ == '__main__':
    main()
