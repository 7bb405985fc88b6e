"""Records the Triton kernels that PyTorch's Inductor makes of fixtures/producers/inductor_functions.py, compiled for sm_80, on an NVIDIA GPU.

usage: python3 scripts/record/producers/inductor.py OUT_FOLDER [NAME...]

Inductor is told that the GPU is an sm_80; ptxas makes code for the one that is there of that PTX, so that whole functions run and are compared
with eager PyTorch. Each kernel's first launch in the second call is kept: its PTX, arguments and results. Writes OUT_FOLDER/inductor.json.gz,
and OUT_FOLDER/inductor-sm90.json.gz with the PTX of the same kernels for sm_90.
"""
import gzip
import importlib.util
import json
import os
import struct
import sys
import tempfile
import traceback

os.environ |= {'TORCHINDUCTOR_COMPILE_THREADS': '1', 'TORCHINDUCTOR_FORCE_DISABLE_CACHES': '1', 'TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER': '0',
               'TORCHINDUCTOR_CACHE_DIR': os.path.join(tempfile.gettempdir(), 'inductor')}

import torch
import triton
import triton.backends.nvidia.compiler as backend
import triton.backends.nvidia.driver as driver
from triton.backends.compiler import GPUTarget

from triton_kernels import ROOT, metadata_of, parameters, text_of
from family import argument, data_argument, launched, random_bytes, size_of, write_family

DTYPES = {'u8': 'u8', 'i8': 'i8', 'i1': 'u8', 'u16': 'u16', 'i16': 'i16', 'fp16': 'f16', 'bf16': 'bf16', 'u32': 'u32', 'i32': 'i32', 'fp32': 'f32', 'u64': 'u64', 'i64': 'i64', 'fp64': 'f64'}
SCALARS = {'i1': 'i32', 'i8': 'i8', 'i16': 'i16', 'i32': 'i32', 'i64': 'i64', 'u32': 'u32', 'u64': 'u64', 'fp32': 'f32', 'fp64': 'f64'}
TORCH = {torch.float16: 'f16', torch.bfloat16: 'bf16', torch.float32: 'f32', torch.float64: 'f64'}

sources = {}   # hash of a compiled kernel -> (kernel, source, options)
launches = []  # (hash, grid, arguments)
state = {'on': False}


def pretend_sm_80():
    from torch._dynamo.device_interface import CudaInterface
    torch.cuda.get_device_capability = lambda device=None: (8, 0)
    CudaInterface.get_compute_capability = staticmethod(lambda device=None: 80)
    make_cubin, arch = backend.CUDABackend.make_cubin, backend.sm_arch_from_capability

    def for_this_gpu(*given, **named):
        backend.sm_arch_from_capability = lambda capability: 'sm_90a'
        try:
            return make_cubin(*given, **named)
        finally:
            backend.sm_arch_from_capability = arch
    backend.CUDABackend.make_cubin = for_this_gpu


def watch():
    compile_kernel = triton.compile

    def remembered(src, target=None, options=None, **more):
        kernel = compile_kernel(src, target=target, options=options, **more)
        sources[kernel.metadata.hash] = (kernel, src, options)
        return kernel
    triton.compile = triton.compiler.compile = remembered
    start, call = driver.CudaLauncher.__init__, driver.CudaLauncher.__call__

    def made(self, src, metadata):
        start(self, src, metadata)
        self.watched = (metadata.hash if hasattr(metadata, 'hash') else metadata['hash'], src)

    def called(self, x, y, z, *given, **named):
        hash, src = self.watched
        if state['on']:
            values = list(given[-len(src.signature):]) if src.signature else []
            launches.append((hash, (x, y, z), kept(src, values)))
        return call(self, x, y, z, *given, **named)
    driver.CudaLauncher.__init__, driver.CudaLauncher.__call__ = made, called


def kept(src, values):
    """(name, type, value) of each parameter; of tensors a copy of the memory from the pointer on."""
    torch.cuda.synchronize()
    out = []
    for (name, kind), value in zip(src.signature.items(), values, strict=True):
        if kind == 'constexpr':
            continue
        if kind.startswith('*'):
            storage = value.untyped_storage()
            first = value.data_ptr() - storage.data_ptr()
            whole = torch.empty(0, dtype=torch.uint8, device=value.device).set_(storage)
            value = bytes(whole[first:].cpu().numpy().tobytes())
        out.append((name, kind, value))
    return out


def tensors(arguments):
    out, random = [], {}
    for kind, seed, *rest in arguments:
        if kind == 'rand':
            shape, dtype = rest
            count = torch.Size(shape).numel()
            data = random_bytes(TORCH[dtype], count, seed)
            random[data] = seed
            out.append(torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape).cuda())
        else:
            limit, shape, dtype = rest
            data = random_bytes('u64', torch.Size(shape).numel(), seed)
            values = [value % limit for (value,) in struct.iter_unpack('<Q', data)]
            out.append(torch.tensor(values, dtype=dtype).reshape(shape).cuda())
    return out, random


def called(function, given, gradient):
    leaves = [t.clone().requires_grad_(gradient and t.is_floating_point()) for t in given]
    out = function(*leaves)
    results = [out] if isinstance(out, torch.Tensor) else list(out)
    if gradient:
        sum((r.float() * r.float()).sum() for r in results).backward()
        results += [leaf.grad for leaf in leaves if leaf.grad is not None]
    torch.cuda.synchronize()
    return [r.detach() for r in results]


def arguments_of(values, random):
    out = []
    for name, kind, value in values:
        if not kind.startswith('*'):
            out.append(argument(name, f'{SCALARS[kind]}={value if kind.startswith("fp") else int(value)}'))
            continue
        if not value:
            out.append(argument(name, 'null'))
            continue
        dtype = DTYPES[kind[1:]]
        count = len(value) // size_of(dtype)
        if name.startswith('out_ptr'):
            # What an output held before is of no account, unless the kernel adds to it; it is zero then.
            out.append(argument(name, f'{dtype}:{count}'))
        elif value in random:
            out.append(argument(name, f'{dtype}:{count}=rand({random[value]})'))
        else:
            out.append(argument(name, f'{dtype}:{count}') if not any(value) else data_argument(name, dtype, value))
    return out


def main(folder, chosen):
    pretend_sm_80()
    watch()
    import torch._inductor.config as config
    for name in ('use_static_cuda_launcher', 'use_static_triton_launcher'):
        if hasattr(config, name):
            setattr(config, name, False)
    config.max_autotune_gemm_backends = config.max_autotune_conv_backends = 'TRITON'
    spec = importlib.util.spec_from_file_location('inductor_functions', os.path.join(ROOT, 'fixtures/producers/inductor_functions.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    recorded, newer, seen = [], {}, set()
    for name, (function, made, gradient, options) in module.FUNCTIONS.items():
        if chosen and name not in chosen:
            continue
        try:
            torch._dynamo.reset()
            given, random = tensors(made)
            config.max_autotune = options.get('max_autotune', False)
            quick = torch.compile(function, dynamic=False)
            called(quick, given, gradient)
            launches.clear()
            state['on'] = True
            got = called(quick, given, gradient)
            state['on'] = False
            want = called(function, given, gradient) if name not in ('dropout', 'flexible_attention') else got
            worst = max(((g.double() - w.double()).abs().max().item() if g.numel() else 0.0) for g, w in zip(got, want))
            print(name, 'kernels', len(launches), 'largest difference from eager', worst, flush=True)
        except Exception as error:
            state['on'] = False
            print(name, 'FAILED', repr(error)[:500], traceback.format_exc()[-900:], flush=True)
            continue
        for hash, grid, values in list(launches):
            if hash in seen:
                continue
            seen.add(hash)
            kernel, src, options = sources[hash]
            ptx, metadata = text_of(kernel), metadata_of(kernel)
            label = f'{name}.{metadata["name"]}'
            try:
                arguments = arguments_of(values, random)
                scratch = parameters(ptx) - len(arguments)
                size = metadata.get('global_scratch_size', 0) * grid[0] * grid[1] * grid[2]
                arguments += [argument(f'scratch{i}', f'u8:{size}' if size and i == 0 else 'null') for i in range(scratch)]
                recorded.append(launched(label, ptx, metadata['name'], grid, (32 * metadata['num_warps'], 1, 1), metadata['shared'], arguments, metadata=metadata))
                print(' ', label, len(ptx), grid, [a['name'] + ('!' if 'unsteady' in a else '') for a in recorded[-1]['args'] if 'after' in a], flush=True)
            except Exception as error:
                print(' ', label, 'FAILED', repr(error)[:300], traceback.format_exc()[-500:], flush=True)
            try:
                newer[label] = text_of(triton.compiler.compiler.compile(src, target=GPUTarget('cuda', 90, 32), options=options))
            except Exception as error:
                print(' ', label, 'sm_90 FAILED', repr(error)[:200], flush=True)
    write_family(os.path.join(folder, 'inductor.json.gz'), f'PyTorch {torch.__version__}, Triton {triton.__version__}', recorded)
    with open(os.path.join(folder, 'inductor-sm90.json.gz'), 'wb') as file:
        file.write(gzip.compress(json.dumps(newer).encode(), 9, mtime=0))


main(sys.argv[1], sys.argv[2:])
