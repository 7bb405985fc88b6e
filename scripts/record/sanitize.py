"""Launches a planted fault of fixtures/sanitize on an NVIDIA GPU, for `compute-sanitizer` to watch: sanitize.py KERNEL.

`sanitize.py --all OUT` runs each under the tool of its kind and writes what the tool said of it, as fixtures/h200/sanitize.json.
"""
import array
import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import cuda

FOLDER = pathlib.Path(__file__).resolve().parents[2] / 'fixtures' / 'sanitize'
LAUNCHES = json.loads((FOLDER / 'launches.json').read_text())
CODES = {'f32': 'f', 'i32': 'i', 'u8': 'B', 'u64': 'q'}
TOOLS = {'memory': 'memcheck', 'init': 'initcheck', 'race': 'racecheck', 'sync': 'synccheck'}


def contents(spec):
    count = spec['count'] // 2 if spec['init'] == 'half' else spec['count']
    value = {'zeros': lambda i: 0, 'ones': lambda i: 1}.get(spec['init'], lambda i: i)
    return array.array(CODES[spec['type']], [value(i) & 0xff if spec['type'] == 'u8' else value(i) for i in range(count)]).tobytes()


def allocate(cu, spec):
    """A buffer of the size that the launch says, of which no more is written than it says."""
    pointer = ctypes.c_uint64()
    size = spec['count'] * array.array(CODES[spec['type']]).itemsize
    cuda.check(cu.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size)), 'cuMemAlloc')
    if spec['init'] != 'none':
        data = contents(spec)
        cuda.check(cu.cuMemcpyHtoD_v2(pointer, data, ctypes.c_size_t(len(data))), 'cuMemcpyHtoD')
    return pointer


def start(cu, module, kernel, launch, args):
    function = ctypes.c_void_p()
    cuda.check(cu.cuModuleGetFunction(ctypes.byref(function), module, kernel.encode()), 'cuModuleGetFunction')
    places = (ctypes.c_void_p * len(args))(*[ctypes.addressof(arg) for arg in args])
    shape = [launch['grid'], 1, 1, launch['block'], 1, 1, launch['shared']]
    cuda.check(cu.cuLaunchKernel(function, *shape, None, places, None), 'cuLaunchKernel')
    return cu.cuCtxSynchronize()


def launch_one(name):
    launch = next(each for each in LAUNCHES if each['kernel'] == name)
    cu = cuda._driver()
    module = ctypes.c_void_p()
    text = (FOLDER / f"{launch['file']}.ptx").read_bytes() + b'\0'
    cuda.check(cu.cuModuleLoadData(ctypes.byref(module), text), 'cuModuleLoadData')
    args = [allocate(cu, arg) if isinstance(arg, dict) else ctypes.c_int32(arg) for arg in launch['args']]
    before = launch.get('before')
    if before:
        buffer = allocate(cu, before['frees'])
        start(cu, module, before['kernel'], launch, [buffer, args[before['into']]])
        cuda.check(cu.cuMemFree_v2(buffer), 'cuMemFree')
    print('status', start(cu, module, name, launch, args))


def watch(launch):
    """What the tool says of a kernel: the first words of each complaint, each once."""
    tool = TOOLS[launch['file']]
    words = ['compute-sanitizer', '--tool', tool, '--print-limit', '5', sys.executable, __file__, launch['kernel']]
    if launch['expect']['code'] == 'CM6135':
        return launch['kernel'], {'tool': tool, 'said': [], 'hangs': True}, 'not launched: it never ends'
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        text, _ = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return launch['kernel'], {'tool': tool, 'said': [], 'hangs': True}, 'stopped after 60 s'
    said = re.findall(r'^=========\s+((?:Invalid|Uninitialized|Error|Warning|Barrier|Race)[^\n]*)', text, re.M)
    plain = [re.sub(r'0x[0-9a-f]+', '0x', each) for each in said]
    return launch['kernel'], {'tool': tool, 'said': list(dict.fromkeys(plain))}, text


def watch_all(out):
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        found = list(pool.map(watch, LAUNCHES))
    version = re.search(r'Version (\d+\.\d+\.\d+)', subprocess.run(['compute-sanitizer', '--version'], capture_output=True, text=True).stdout)
    head = {'recordedOn': f'{cuda.describe()}, compute-sanitizer {version.group(1)}', 'recordedBy': 'scripts/record/sanitize.py'}
    lines = ',\n'.join(f'  {json.dumps(name)}: {json.dumps(what)}' for name, what, _ in found)
    words = ''.join(f' {json.dumps(key)}: {json.dumps(value)},\n' for key, value in head.items())
    pathlib.Path(out, 'sanitize.json').write_text(f'{{\n{words} "kernels": {{\n{lines}\n }}\n}}\n')
    for name, _, text in found:
        pathlib.Path(out, f'{name}.log').write_text(text)


if __name__ == '__main__':
    if sys.argv[1] == '--all':
        watch_all(sys.argv[2])
    else:
        launch_one(sys.argv[1])
