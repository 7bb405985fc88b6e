"""Records what an NVIDIA GPU gives for random programs of warp collectives: fixtures/h200/warps/.

usage: python3 scripts/record/warps.py PROGRAMS.json.gz DIGESTS.json OUTPUTS.json

PROGRAMS.json.gz is what `bun scripts/compare-warps.ts write` made. Each program is compiled without and with optimization (levels 0
and 4 of the driver's compiler) and runs twice at each level. DIGESTS.json has two hashes for each program, of its text and of what all four
runs left, or what became of the runs where they do not agree. OUTPUTS.json has all words of some programs.
Workers are processes, so that a kernel that does not end costs one of them.
"""
import gzip
import hashlib
import json
import multiprocessing
import multiprocessing.connection
import os
import sys
import time

LEVELS = [0, 0, 4, 4]
SECONDS = 3
WORKERS = min(14, os.cpu_count() or 1)

with gzip.open(sys.argv[1]) as file:
    DATA = json.load(file)


def run(program, level):
    """The bytes that a program leaves; a word about it if there are none."""
    import cuda

    threads = program['block'][0] * program['block'][1]
    size = 4 * DATA['outputWords'] * threads * program['blocks']
    module = cuda.Module(program['ptx'], level)
    args = [('buffer', bytes.fromhex(DATA['input'])), ('buffer', b'\xa5' * size)]
    after = module.launch('warps', [program['blocks'], 1, 1], [*program['block'], 1], 0, args, SECONDS)
    module.close()
    return after[1]


def results(program):
    """What each of the runs left."""
    for level in LEVELS:
        try:
            yield run(program, level)
        except TimeoutError:
            yield f'level {level} does not end'
            return
        except RuntimeError as error:
            yield f'level {level}: {error}'
            return


def work(pipe):
    """A worker: runs the programs whose numbers it gets, and ends with a kernel that does not."""
    while True:
        index = pipe.recv()
        found = list(results(DATA['programs'][index]))
        pipe.send(found)
        if isinstance(found[-1], str):
            # The context may be broken, and the kernel may still run.
            os._exit(0)


class Worker:
    def __init__(self):
        self.index = None
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.get_context('fork').Process(target=work, args=[other], daemon=True)
        self.process.start()
        other.close()

    def give(self, index):
        self.index = index
        self.since = time.monotonic()
        self.pipe.send(index)


def run_all():
    """What the runs of each program left, by its index."""
    todo = list(range(len(DATA['programs'])))[::-1]
    done, workers = {}, [Worker() for _ in range(WORKERS)]
    for worker in workers:
        if todo:
            worker.give(todo.pop())
    while len(done) < len(DATA['programs']):
        busy = [worker for worker in workers if worker.index is not None]
        ready = multiprocessing.connection.wait([worker.pipe for worker in busy], timeout=1)
        for worker in busy:
            late = time.monotonic() - worker.since > 30
            if worker.pipe not in ready and not late:
                continue
            try:
                done[worker.index] = worker.pipe.recv() if worker.pipe in ready else ['does not end']
            except EOFError:
                done[worker.index] = ['the process ended']
            if isinstance(done[worker.index][-1], str):
                worker.process.kill()
                workers[workers.index(worker)] = worker = Worker()
            worker.index = None
            if todo:
                worker.give(todo.pop())
    for worker in workers:
        worker.process.kill()
    return done


def said(found):
    """The hash of the words that all runs left, or why there is none."""
    digests = [each if isinstance(each, str) else hashlib.sha256(each).hexdigest()[:16] for each in found]
    return digests[0] if len(set(digests)) == 1 else ' | '.join(digests)


def main():
    start = time.monotonic()
    done = run_all()
    lines, failed = [], []
    for index, program in enumerate(DATA['programs']):
        found = said(done[index])
        lines.append(f"{hashlib.sha256(program['ptx'].encode()).hexdigest()[:8]} {found}")
        if len(found) != 16:
            failed.append(f"{DATA['from'] + index} {program['kind']}: {found}")
    print('\n'.join(failed[:60]))
    print(f'{len(lines)} programs, {len(failed)} without one result, {time.monotonic() - start:.0f} s')
    import cuda

    shared = {'recordedOn': cuda.describe(), 'recordedBy': 'scripts/record/warps.py', 'from': DATA['from'], 'programs': lines}
    with open(sys.argv[2], 'w') as file:
        file.write(json.dumps(shared, indent=0) + '\n')
    whole = {number: hexes(done[number - DATA['from']]) for number in DATA['outputs']}
    with open(sys.argv[3], 'w') as file:
        file.write(json.dumps(whole, indent=0) + '\n')


def hexes(found):
    """The words of each run, or one list if they are the same."""
    texts = [each if isinstance(each, str) else each.hex() for each in found]
    return texts[0] if len(set(texts)) == 1 else texts


if __name__ == '__main__':
    main()
