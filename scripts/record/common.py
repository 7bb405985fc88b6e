"""What the recordings of instructions share: the bits of floats, and ptxas as a first judge of their kernels. No GPU needed."""
import os
import struct
import subprocess
import tempfile


def f16(value):
    return struct.unpack('<H', struct.pack('<e', value))[0]


def f32(value):
    return struct.unpack('<I', struct.pack('<f', value))[0]


def f64(value):
    return struct.unpack('<Q', struct.pack('<d', value))[0]


def check(kernels):
    """Prints which kernels ptxas refuses, of pairs of a form and its PTX."""
    for form, text in kernels:
        with tempfile.NamedTemporaryFile('w', suffix='.ptx') as file:
            file.write(text)
            file.flush()
            done = subprocess.run(['ptxas', '-arch=sm_90', file.name, '-o', os.devnull], capture_output=True, text=True)
        if done.returncode:
            print(f'{form}: {done.stderr.splitlines()[0] if done.stderr else done.returncode}')
