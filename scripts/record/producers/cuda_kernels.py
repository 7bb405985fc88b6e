"""Compiles fixtures/producers/cuda_kernels.cu with NVRTC, and clang's LLVM IR of it with LLVM's back end, and records both on an NVIDIA GPU.

usage: python3 scripts/record/producers/cuda_kernels.py OUT_FOLDER IR_FOLDER

IR_FOLDER has the files of `bun scripts/record/producers/clang.ts`. Writes OUT_FOLDER/nvrtc.json.gz and OUT_FOLDER/clang.json.gz. Needs the packages
cuda-bindings and llvmlite.
"""
import glob
import os
import re
import sys

import llvmlite.binding as llvm
from cuda.bindings import nvrtc

from family import argument, launched, write_family

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
OPTIONS = {'plain': [], 'lines': ['-lineinfo'], 'debug': ['-G'], 'fast': ['--use_fast_math', '-default-device'], 'rdc': ['-rdc=true']}
# kernel -> (grid, block, shared memory, arguments)
LAUNCHES = {
    'filter': (2, 128, 0, {'x': 'f32:200=rand(1)', 'out': 'f32:200', 'n': 'i32=200'}),
    'block_sum': (3, 128, 512, {'x': 'i32:300=rand(1)', 'out': 'i32:1', 'n': 'i32=300'}),
    'videos': (2, 128, 0, {'x': 'u32:200=rand(1)', 'out': 'u32:200', 'n': 'i32=200'}),
    'wave': (2, 64, 0, {'x': 'f64:100=rand(1)', 'out': 'f64:100', 'n': 'i32=100'}),
}


def nvrtc_text(source, options):
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b'cuda_kernels.cu', 0, [], [])
    words = [word.encode() for word in ['--gpu-architecture=compute_80', *options]]
    code, = nvrtc.nvrtcCompileProgram(program, len(words), words)
    if int(code):
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = bytearray(size)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(log.decode())
    _, size = nvrtc.nvrtcGetPTXSize(program)
    text = b' ' * size
    nvrtc.nvrtcGetPTX(program, text)
    return text.decode().rstrip('\0')


def llvm_texts(folder):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple('nvptx64-nvidia-cuda')
    for path in sorted(glob.glob(os.path.join(folder, '*.ll'))):
        module = llvm.parse_assembly(open(path).read())
        level = 0 if '-O0' in path else 2
        yield os.path.basename(path)[:-3], target.create_target_machine(cpu='sm_80', features='+ptx83', opt=level).emit_assembly(module)


def recorded(name, text):
    # One PTX has all kernels; the record of the first has its text, those of the others its name.
    out = []
    for kernel, (grid, block, shared, arguments) in LAUNCHES.items():
        entry = re.search(rf'\.entry (\w*{kernel}\w*)', text)[1]
        given = [argument(parameter, spec) for parameter, spec in arguments.items()]
        record = launched(f'{name}.{kernel}', text, entry, (grid, 1, 1), (block, 1, 1), shared, given)
        out.append(record if not out else {**record, 'ptx': f'{name}.{next(iter(LAUNCHES))}'})
        print(record['name'], len(text), [a['name'] for a in record['args'] if 'after' in a], flush=True)
    return out


def main(folder, ir):
    source = open(os.path.join(ROOT, 'fixtures/producers/cuda_kernels.cu')).read()
    _, major, minor = nvrtc.nvrtcVersion()
    write_family(os.path.join(folder, 'nvrtc.json.gz'), f'NVRTC {major}.{minor}',
                 [record for name, options in OPTIONS.items() for record in recorded(name, nvrtc_text(source, options))])
    version = '.'.join(map(str, llvm.llvm_version_info))
    write_family(os.path.join(folder, 'clang.json.gz'), f'clang 22, LLVM {version}', [record for name, text in llvm_texts(ir) for record in recorded(name, text)])


main(*sys.argv[1:])
