"""Counts what the kernels of fixtures/profile do on an NVIDIA GPU, by Nsight Compute.

`profile.py` launches each once; `profile.py --all OUT` has `ncu` count meanwhile, and writes it as fixtures/h200/profile.json.
"""
import array
import ctypes
import csv
import io
import json
import pathlib
import subprocess
import sys

import cuda

FOLDER = pathlib.Path(__file__).resolve().parents[2] / 'fixtures' / 'profile'
LAUNCHES = json.loads((FOLDER / 'launches.json').read_text())
FLOATS, PERMUTED = 65536, 4096

METRICS = {
    'warps': 'smsp__inst_executed.sum',
    'threads': 'smsp__thread_inst_executed.sum',
    'globalLoads': 'smsp__inst_executed_op_global_ld.sum',
    'globalStores': 'smsp__inst_executed_op_global_st.sum',
    'sharedLoads': 'smsp__inst_executed_op_shared_ld.sum',
    'sharedStores': 'smsp__inst_executed_op_shared_st.sum',
    'loadRequests': 'l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum',
    'loadSectors': 'l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum',
    'storeRequests': 'l1tex__t_requests_pipe_lsu_mem_global_op_st.sum',
    'storeSectors': 'l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum',
    'redSectors': 'l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum',
    'atomSectors': 'l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum',
    'sharedLoadWavefronts': 'l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum',
    'sharedStoreWavefronts': 'l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum',
    'sharedAtomWavefronts': 'l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum',
    'sharedAtoms': 'sm__sass_inst_executed_op_shared_atom.sum',
    'sharedLoadConflicts': 'l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum',
    'sharedStoreConflicts': 'l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum',
    'fadd': 'smsp__sass_thread_inst_executed_op_fadd_pred_on.sum',
    'fmul': 'smsp__sass_thread_inst_executed_op_fmul_pred_on.sum',
    'ffma': 'smsp__sass_thread_inst_executed_op_ffma_pred_on.sum',
}


def launch_all():
    module = cuda.Module((FOLDER / 'profile.ptx').read_text())
    x = array.array('f', [i % 251 for i in range(FLOATS)]).tobytes()
    p = array.array('i', [(i * 8 + (i >> 9)) % PERMUTED for i in range(PERMUTED)]).tobytes()
    for launch in LAUNCHES:
        buffers = [('buffer', bytes(4 * FLOATS)), ('buffer', x), ('buffer', p)]
        module.launch(launch['kernel'], [launch['grid'], 1, 1], [launch['block'], 1, 1], 0, buffers)


def counted(text):
    """By kernel: each metric as a number, from what `ncu --csv --page raw` prints."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    head, _units, *rows = list(csv.reader(io.StringIO('\n'.join(lines))))
    found = {}
    for row in rows:
        cells = dict(zip(head, row))
        numbers = {name: cells.get(metric, '').replace(',', '') for name, metric in METRICS.items()}
        found[cells['Kernel Name'].split('(')[0]] = {name: int(float(value)) for name, value in numbers.items() if value not in ('', 'n/a')}
    return found


def count_all(out):
    words = ['ncu', '--csv', '--page', 'raw', '--metrics', ','.join(METRICS.values()), sys.executable, __file__]
    process = subprocess.run(words, capture_output=True, text=True)
    pathlib.Path(out, 'ncu.csv').write_text(process.stdout)
    print(process.stderr[-3000:])
    found = counted(process.stdout)
    version = subprocess.run(['ncu', '--version'], capture_output=True, text=True).stdout.split('Version ')[-1].split(' ')[0]
    head = {'recordedOn': f'{cuda.describe()}, ncu {version}', 'recordedBy': 'scripts/record/profile.py'}
    lines = ',\n'.join(f'  {json.dumps(name)}: {json.dumps(what)}' for name, what in found.items())
    start = ''.join(f' {json.dumps(key)}: {json.dumps(value)},\n' for key, value in head.items())
    pathlib.Path(out, 'profile.json').write_text(f'{{\n{start} "kernels": {{\n{lines}\n }}\n}}\n')


if __name__ == '__main__':
    if len(sys.argv) > 1 and sys.argv[1] == '--all':
        count_all(sys.argv[2])
    else:
        launch_all()
