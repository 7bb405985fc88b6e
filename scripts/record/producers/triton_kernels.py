"""Compiles fixtures/producers/triton_kernels.py with Triton for sm_80 and records each kernel on an NVIDIA GPU.

usage: python3 scripts/record/producers/triton_kernels.py OUT_FOLDER [NAME...]

Writes OUT_FOLDER/triton.json.gz, and OUT_FOLDER/triton-sm90.json.gz with the PTX of the same kernels for sm_90.
"""
import gzip
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
import traceback

from family import argument, launched, write_family

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
TRITON = {'u8': 'u8', 'i8': 'i8', 'u16': 'u16', 'i16': 'i16', 'f16': 'fp16', 'bf16': 'bf16', 'u32': 'u32', 'i32': 'i32', 'f32': 'fp32', 'u64': 'u64', 'i64': 'i64', 'f64': 'fp64'}
# Fields of the metadata that say how a kernel is launched, or that a reader may want to see.
KEPT = ('name', 'num_warps', 'num_ctas', 'shared', 'warp_size', 'num_stages', 'global_scratch_size', 'global_scratch_align', 'profile_scratch_size', 'tmem_size', 'launch_cooperative_grid', 'launch_pdl', 'cluster_dims', 'enable_fp_fusion', 'target')


def launches(tl):
    """name -> (kernel, grid, constants, options, arguments)"""
    tiles = {'BM': 32, 'BN': 32, 'BK': 32}
    half, back = 'f16:2x100x32', {'D': 32, 'BM': 32, 'BN': 32}

    def plain(dtype, out, k, precision, kind, count='i32'):
        return ('matmul_plain', (2, 2, 1), {**tiles, 'OUT': kind, 'PRECISION': precision}, {},
                {'a': f'{dtype}:64x{k}=rand(1)', 'b': f'{dtype}:{k}x64=rand(2)', 'c': f'{out}:64x64', 'n': 'i32=64', 'k': f'i32={k}'})

    return {
        'attention_forward': ('attention_forward', (3, 2, 1), {'D': 32, 'BM': 32, 'BN': 32}, {}, {'q': 'bf16:2x80x32=rand(1)', 'k': 'bf16:2x80x32=rand(2)', 'v': 'bf16:2x80x32=rand(3)', 'out': 'bf16:2x80x32', 'lse': 'f32:2x80', 'length': 'i32=80', 'scale': 'f32=0.176776695'}),
        'attention_delta': ('attention_delta', (4, 2, 1), {'D': 32, 'BM': 32}, {}, {'out': f'{half}=rand(1)', 'dout': f'{half}=rand(2)', 'delta': 'f32:2x100', 'length': 'i32=100'}),
        'attention_backward_kv': ('attention_backward_kv', (4, 2, 1), back, {}, {'q': f'{half}=rand(1)', 'k': f'{half}=rand(2)', 'v': f'{half}=rand(3)', 'dout': f'{half}=rand(4)', 'lse': 'f32:2x100=fill(4.0)', 'delta': 'f32:2x100=rand(5)', 'dk': 'f32:2x100x32', 'dv': 'f32:2x100x32', 'length': 'i32=100', 'scale': 'f32=0.176776695'}),
        'attention_backward_q': ('attention_backward_q', (4, 2, 1), back, {}, {'q': f'{half}=rand(1)', 'k': f'{half}=rand(2)', 'v': f'{half}=rand(3)', 'dout': f'{half}=rand(4)', 'lse': 'f32:2x100=fill(4.0)', 'delta': 'f32:2x100=rand(5)', 'dq': 'f32:2x100x32', 'length': 'i32=100', 'scale': 'f32=0.176776695'}),
        'attention_decode': ('attention_decode', (2, 4, 1), {'GROUP': 4, 'D': 32, 'BN': 16}, {}, {'q': 'f16:8x32=rand(1)', 'k': 'f16:2x60x32=rand(2)', 'v': 'f16:2x60x32=rand(3)', 'part': 'f32:8x4x32', 'part_lse': 'f32:8x4', 'length': 'i32=60', 'scale': 'f32=0.176776695'}),
        'attention_combine': ('attention_combine', (8, 1, 1), {'PIECES': 4, 'D': 32}, {'num_warps': 1}, {'part': 'f32:8x4x32=rand(1)', 'part_lse': 'f32:8x4=rand(2)', 'out': 'f32:8x32'}),
        'paged_attention': ('paged_attention', (4, 1, 1), {'D': 32, 'PAGE': 16}, {}, {'q': 'f32:4x32=rand(1)', 'keys': 'f32:6x16x32=rand(2)', 'values': 'f32:6x16x32=rand(3)', 'table': 'i32:4=list(4,1,5,2)', 'out': 'f32:4x32', 'length': 'i32=55', 'scale': 'f32=0.25'}),
        'matmul_grouped': ('matmul_grouped', (12, 1, 1), {**tiles, 'GROUP': 2}, {'num_stages': 4}, {'a': 'f16:100x72=rand(1)', 'b': 'f16:72x80=rand(2)', 'bias': 'f32:80=rand(3)', 'c': 'f16:100x80', 'm': 'i32=100', 'n': 'i32=80', 'k': 'i32=72'}),
        'matmul_fp8': ('matmul_fp8', (2, 2, 1), tiles, {}, {'a': 'u8:64x64=rand(1)', 'b': 'u8:64x64=rand(2)', 'c': 'f32:64x64', 'n': 'i32=64', 'k': 'i32=64'}),
        'matmul_split_k': ('matmul_split_k', (2, 1, 3), {**tiles, 'SPLIT': 3}, {}, {'a': 'i8:64x192=rand(1)', 'b': 'i8:192x32=rand(2)', 'c': 'i32:64x32', 'n': 'i32=32', 'k': 'i32=192'}),
        'matmul_batched': ('matmul_batched', (2, 2, 3), tiles, {'num_stages': 2}, {'a': 'bf16:3x40x48=rand(1)', 'b': 'bf16:3x48x56=rand(2)', 'c': 'bf16:3x40x56', 'm': 'i32=40', 'n': 'i32=56', 'k': 'i32=48'}),
        'matmul_descriptor': ('matmul_descriptor', (2, 2, 1), tiles, {}, {'a': 'f16:48x64=rand(1)', 'b': 'f16:64x64=rand(2)', 'c': 'f16:48x64', 'm': 'i32=48', 'n': 'i32=64', 'k': 'i32=64'}),
        'matmul_persistent': ('matmul_persistent', (3, 1, 1), tiles, {'num_warps': 8}, {'a': 'f16:70x50=rand(1)', 'b': 'f16:90x50=rand(2)', 'c': 'f16:70x90', 'm': 'i32=70', 'n': 'i32=90', 'k': 'i32=50'}),
        'matmul_int8_weights': ('matmul_int8_weights', (1, 2, 1), tiles, {}, {'a': 'f16:32x64=rand(1)', 'w': 'i8:64x64=rand(2)', 'scales': 'f32:64=rand(3)', 'c': 'f32:32x64', 'n': 'i32=64', 'k': 'i32=64'}),
        'matmul_int4_weights': ('matmul_int4_weights', (1, 2, 1), tiles, {}, {'a': 'f16:32x64=rand(1)', 'w': 'i32:8x64=rand(2)', 'scales': 'f16:2x64=rand(3)', 'c': 'f32:32x64', 'n': 'i32=64', 'k': 'i32=64'}),
        'matmul_f64': plain('f64', 'f64', 32, 'ieee', tl.float64),
        'matmul_tf32x3': plain('f32', 'f32', 64, 'tf32x3', tl.float32),
        'matmul_bf16x3': plain('f32', 'f32', 32, 'bf16x3', tl.float32),
        'matmul_f16_acc': plain('f16', 'f16', 64, 'ieee', tl.float16),
        'grouped_experts': ('grouped_experts', (4, 2, 1), {'BM': 16, 'BN': 32, 'BK': 32}, {}, {'x': 'bf16:64x64=rand(1)', 'weights': 'bf16:3x64x64=rand(2)', 'experts': 'i32:4=list(2,0,-1,1)', 'out': 'f32:64x64', 'columns': 'i32=64', 'k': 'i32=64'}),
        'layer_norm_backward': ('layer_norm_backward', (6, 1, 1), {'GROUPS': 3, 'BLOCK': 128}, {}, {'dout': 'f32:6x100=rand(1)', 'x': 'f32:6x100=rand(2)', 'weight': 'f32:100=rand(3)', 'mean': 'f32:6=rand(4)', 'rstd': 'f32:6=rand(5)', 'dx': 'f32:6x100', 'dw_part': 'f32:3x100', 'db_part': 'f32:3x100', 'locks': 'i32:3', 'columns': 'i32=100'}),
        'layer_norm_reduce': ('layer_norm_reduce', (2, 1, 1), {'BM': 32, 'BN': 64}, {}, {'part': 'f32:50x100=rand(1)', 'out': 'f32:100', 'rows': 'i32=50', 'columns': 'i32=100'}),
        'group_norm': ('group_norm', (6, 1, 1), {'GROUP': 4, 'BLOCK': 128}, {}, {'x': 'f16:2x12x35=rand(1)', 'weight': 'f32:12=rand(2)', 'bias': 'f32:12=rand(3)', 'out': 'f16:2x12x35', 'channels': 'i32=12', 'size': 'i32=35', 'eps': 'f32=1e-5'}),
        'batch_norm_statistics': ('batch_norm_statistics', (5, 1, 1), {'BB': 8, 'BS': 64}, {}, {'x': 'f32:6x5x50=rand(1)', 'mean_out': 'f32:5', 'variance_out': 'f32:5', 'batch': 'i32=6', 'channels': 'i32=5', 'size': 'i32=50'}),
        'rms_norm_backward': ('rms_norm_backward', (4, 1, 1), {'BLOCK': 256}, {}, {'dout': 'bf16:4x200=rand(1)', 'x': 'bf16:4x200=rand(2)', 'weight': 'bf16:200=rand(3)', 'dx': 'f32:4x200', 'dw': 'f32:4x200', 'columns': 'i32=200', 'eps': 'f32=1e-6'}),
        'softmax_backward': ('softmax_backward', (4, 1, 1), {'BLOCK': 256}, {}, {'out': 'f16:4x200=rand(1)', 'dout': 'f16:4x200=rand(2)', 'dx': 'f16:4x200', 'columns': 'i32=200'}),
        'log_softmax_online': ('log_softmax_online', (4, 1, 1), {'BLOCK': 128}, {}, {'x': 'f32:4x300=rand(1)', 'out': 'f32:4x300', 'columns': 'i32=300'}),
        'cross_entropy_smoothed': ('cross_entropy_smoothed', (4, 1, 1), {'BLOCK': 256}, {}, {'logits': 'bf16:4x200=rand(1)', 'targets': 'i64:4=list(17,-100,199,3)', 'losses': 'f32:4=fill(9.0)', 'gradient': 'bf16:4x200', 'columns': 'i32=200', 'smoothing': 'f32=0.125', 'ignored': 'i32=-100'}),
        'dropout_mask': ('dropout_mask', (2, 1, 1), {'BLOCK': 128}, {}, {'x': 'f32:1000=rand(1)', 'out': 'f32:1000', 'mask_out': 'i8:1000', 'n': 'i32=1000', 'p': 'f32=0.25', 'seed': 'i32=42'}),
        'normal_noise': ('normal_noise', (2, 1, 1), {'BLOCK': 256}, {}, {'x': 'f32:500=rand(1)', 'out': 'f32:500', 'n': 'i32=500', 'sigma': 'f32=0.5', 'seed': 'i32=7'}),
        'stochastic_round': ('stochastic_round', (2, 1, 1), {'BLOCK': 256}, {}, {'x': 'f32:500=rand(1)', 'out': 'u16:500', 'n': 'i32=500', 'seed': 'i32=11'}),
        'linear_recurrence': ('linear_recurrence', (3, 1, 1), {'BLOCK': 256}, {}, {'a': 'f32:3x200=rand(1)', 'b': 'f32:3x200=rand(2)', 'out': 'f32:3x200', 'columns': 'i32=200'}),
        'running_maximum': ('running_maximum', (2, 1, 1), {'BM': 4, 'BLOCK': 64}, {}, {'x': 'i32:8x50=rand(1)', 'out': 'i32:8x50', 'columns': 'i32=50'}),
        'cumulative_products': ('cumulative_products', (2, 1, 1), {'BLOCK': 128}, {}, {'x': 'i64:2x100=rand(1)', 'out': 'i64:2x100', 'columns': 'i32=100'}),
        'selective_scan': ('selective_scan', (2, 1, 1), {'STATE': 8, 'BLOCK': 16}, {}, {'x': 'f32:12x24=rand(1)', 'decay': 'f32:24x8=rand(2)', 'b': 'f32:12x8=rand(3)', 'c': 'f32:12x8=rand(4)', 'out': 'f32:12x24', 'length': 'i32=12', 'width': 'i32=24'}),
        'chained_scan': ('chained_scan', (5, 1, 1), {'BLOCK': 128}, {}, {'x': 'i32:640=rand(1)', 'out': 'i32:640', 'flags': 'i32:5', 'sums': 'i32:5'}),
        'sort_descending': ('sort_descending', (2, 1, 1), {'BM': 2, 'BLOCK': 64}, {}, {'x': 'f32:4x50=rand(1)', 'out': 'f32:4x50', 'columns': 'i32=50', }),
        'sort_with_indices': ('sort_with_indices', (2, 1, 1), {'BLOCK': 64}, {'num_warps': 2}, {'x': 'i32:2x60=rand(1)', 'out': 'i32:2x60', 'order': 'i32:2x60', 'columns': 'i32=60'}),
        'top_k': ('top_k', (3, 1, 1), {'K': 8, 'BLOCK': 64}, {}, {'x': 'f32:3x60=rand(1)', 'out': 'f32:3x8', 'columns': 'i32=60'}),
        'radix_ranks': ('radix_ranks', (2, 1, 1), {'SHIFT': 8, 'BLOCK': 128}, {}, {'x': 'i32:256=rand(1)', 'ranks': 'i32:256', 'totals': 'i32:32'}),
        'convolution_causal': ('convolution_causal', (10, 2, 1), {'TAPS': 4, 'BLOCK': 64}, {'num_warps': 2}, {'x': 'bf16:10x100=rand(1)', 'weight': 'bf16:100x4=rand(2)', 'bias': 'bf16:100=rand(3)', 'out': 'bf16:10x100', 'length': 'i32=10', 'width': 'i32=100'}),
        'convolution_gemm': ('convolution_gemm', (4, 1, 1), {'CIN': 16, 'COUT': 32, 'BM': 32}, {}, {'x': 'f16:10x11x16=rand(1)', 'weight': 'f16:9x16x32=rand(2)', 'out': 'f32:110x32', 'height': 'i32=10', 'width': 'i32=11'}),
        'max_pool': ('max_pool', (5, 2, 1), {'BLOCK': 32}, {'num_warps': 1}, {'x': 'f32:2x9x17=rand(1)', 'out': 'f32:2x5x9', 'picks': 'i64:2x5x9', 'height': 'i32=9', 'width': 'i32=17'}),
        'quantize_int4': ('quantize_int4', (3, 1, 1), {'GROUP': 32, 'WORDS': 32}, {}, {'x': 'f32:3x256=rand(1)', 'out': 'i32:3x32', 'scales': 'f32:3x8', 'columns': 'i32=256'}),
        'fp8_round_trip': ('fp8_round_trip', (2, 1, 1), {'BLOCK': 256}, {}, {'x': 'f32:500=rand(1)', 'bits': 'u8:500', 'back': 'f32:500', 'bits_4': 'u8:500', 'n': 'i32=500'}),
        'dequantize_fp8': ('dequantize_fp8', (2, 1, 1), {'GROUP': 32, 'BLOCK': 256}, {}, {'x': 'u8:500=iota', 'scales': 'f16:16=rand(2)', 'out': 'bf16:500', 'n': 'i32=500'}),
        'histogram_atomic': ('histogram_atomic', (3, 1, 1), {'BINS': 37, 'BLOCK': 256}, {}, {'x': 'i32:700=rand(1)', 'out': 'i32:37', 'weights': 'i32:700=rand(2)', 'sums': 'i64:37', 'n': 'i32=700'}),
        'atomic_kinds': ('atomic_kinds', (1, 1, 1), {'BLOCK': 256}, {}, {'x': 'i32:200=rand(1)', 'out': 'i32:48', 'wide': 'i64:16', 'n': 'i32=200'}),
        'atomic_floats': ('atomic_floats', (2, 1, 1), {'BLOCK': 128}, {}, {'x': 'i32:200=rand(1)', 'top': 'f32:8', 'total': 'f32:32', 'half_total': 'f16:32', 'n': 'i32=200'}),
        'global_sum': ('global_sum', (4, 1, 1), {'BLOCK': 128}, {}, {'x': 'i32:500=rand(1)', 'out': 'i64:2', 'count': 'i32:1', 'lock': 'i32:1', 'n': 'i32=500'}),
        'reduction_kinds': ('reduction_kinds', (1, 1, 1), {'BM': 8, 'BLOCK': 64}, {}, {'x': 'i32:8x50=rand(1)', 'out': 'i32:96', 'where': 'i32:24', 'columns': 'i32=50'}),
        'jagged_sums': ('jagged_sums', (4, 1, 1), {'BN': 32, 'BM': 8}, {}, {'x': 'f32:30x20=rand(1)', 'offsets': 'i32:5=list(0,3,3,19,30)', 'out': 'f32:4x20', 'columns': 'i32=20'}),
        'transpose': ('transpose', (2, 2, 1), {'BM': 32, 'BN': 32}, {}, {'x': 'f16:50x60=rand(1)', 'out': 'f16:60x50', 'rows': 'i32=50', 'columns': 'i32=60'}),
        'gather_rows': ('gather_rows', (1, 1, 1), {'BM': 32, 'BN': 16, 'TAKEN': 16}, {}, {'x': 'f32:32x16=rand(1)', 'index': 'i32:16x16=rand(2)', 'out': 'f32:16x16'}),
        'shuffles': ('shuffles', (1, 1, 1), {'BLOCK': 128}, {}, {'x': 'f32:128=rand(1)', 'out': 'f32:640'}),
        'embedding_bag': ('embedding_bag', (4, 1, 1), {'BLOCK': 64}, {'num_warps': 2}, {'table': 'bf16:20x50=rand(1)', 'tokens': 'i64:9=list(3,19,0,7,7,12,1,18,5)', 'offsets': 'i64:5=list(0,2,2,8,9)', 'out': 'f32:4x50', 'columns': 'i32=50'}),
        'rotary_interleaved': ('rotary_interleaved', (5, 1, 1), {'HEADS': 4, 'HALF': 16}, {}, {'x': 'f32:5x4x32=rand(1)', 'angles': 'f32:5x16=rand(2)', 'out': 'f32:5x4x32'}),
        'functions_f32': ('functions_f32', (1, 1, 1), {'BLOCK': 128}, {}, {'x': 'f32:100=rand(1)', 'out': 'f32:1600', 'n': 'i32=100'}),
        'functions_f64': ('functions_f64', (1, 1, 1), {'BLOCK': 64}, {'num_warps': 2}, {'x': 'f64:50=rand(1)', 'out': 'f64:300', 'n': 'i32=50'}),
        'integers': ('integers', (1, 1, 1), {'BLOCK': 128}, {}, {'x': 'i32:100=rand(1)', 'y': 'i32:100=rand(2)', 'out': 'i32:800', 'wide': 'i64:400', 'n': 'i32=100'}),
        'conversions': ('conversions', (2, 1, 1), {'BLOCK': 128}, {}, {'x': 'i32:200=rand(1)', 'out_f16': 'f16:400', 'out_bf16': 'bf16:200', 'out_i32': 'i32:200', 'out_i8': 'i8:200', 'out_u8': 'u8:200', 'out_f64': 'f64:200', 'n': 'i32=200'}),
        'nan_rules': ('nan_rules', (1, 1, 1), {'BLOCK': 128}, {}, {'x': 'i32:100=rand(1)', 'y': 'i32:100=rand(2)', 'out': 'f32:400', 'n': 'i32=100'}),
        'inline_assembly': ('inline_assembly', (1, 1, 1), {'BLOCK': 512}, {}, {'x': 'i32:500=rand(1)', 'y': 'i32:500=rand(2)', 'out': 'i32:1000', 'n': 'i32=500'}),
        'calls': ('calls', (2, 1, 1), {'BLOCK': 128}, {}, {'x': 'f32:200=rand(1)', 'y': 'f32:2=rand(2)', 'out': 'f32:200', 'n': 'i32=200'}),
        'collatz': ('collatz', (2, 1, 1), {'BLOCK': 128}, {}, {'x': 'i32:200=iota', 'out': 'i32:200', 'n': 'i32=200'}),
        'asserted': ('asserted', (2, 1, 1), {'BLOCK': 128}, {'debug': True}, {'x': 'i32:200=iota', 'out': 'i32:200', 'n': 'i32=200'}),
        'printed': ('printed', (2, 1, 1), {'BLOCK': 128}, {}, {'x': 'i32:200=iota', 'out': 'i32:200', 'n': 'i32=200'}),
        'lamb_norms': ('lamb_norms', (1, 1, 1), {'BLOCK': 256}, {}, {'p': 'f32:700=rand(1)', 'update': 'f32:700=rand(2)', 'norms': 'f32:2', 'n': 'i32=700'}),
        'sgd_momentum': ('sgd_momentum', (2, 1, 1), {'NESTEROV': True, 'BLOCK': 256}, {}, {'p': 'bf16:400=rand(1)', 'g': 'bf16:400=rand(2)', 'm': 'f32:400=rand(3)', 'n': 'i32=400', 'lr': 'f32=0.125', 'momentum': 'f32=0.9', 'decay': 'f32=0.01'}),
    }


def wide_launches():
    """Kernels with tiles that have a warp-group product for sm_90; only their PTX is kept."""
    products = {'a': 'f16:128x64', 'b': 'f16:64x128', 'c': 'f16:128x128', 'm': 'i32=128', 'n': 'i32=128', 'k': 'i32=64'}
    heads = {name: 'f16:2x128x64' for name in ('q', 'k', 'v', 'dout')}
    wide = {'BM': 64, 'BN': 64, 'BK': 32}
    backward = {'lse': 'f32:2x128', 'delta': 'f32:2x128', 'dk': 'f32:2x128x64', 'dv': 'f32:2x128x64', 'length': 'i32=128', 'scale': 'f32=0.125'}
    return {
        'matmul_persistent.wide': ('matmul_persistent', wide, {}, products),
        'matmul_descriptor.wide': ('matmul_descriptor', wide, {}, products),
        'matmul_batched.wide': ('matmul_batched', wide, {}, {**products, 'a': 'bf16:3x128x64', 'b': 'bf16:3x64x128', 'c': 'bf16:3x128x128'}),
        'matmul_fp8.wide': ('matmul_fp8', wide, {}, {'a': 'u8:128x64', 'b': 'u8:64x128', 'c': 'f32:128x128', 'n': 'i32=128', 'k': 'i32=64'}),
        'matmul_split_k.wide': ('matmul_split_k', {**wide, 'SPLIT': 2}, {}, {'a': 'i8:128x128', 'b': 'i8:128x128', 'c': 'i32:128x128', 'n': 'i32=128', 'k': 'i32=128'}),
        'attention_forward.wide': ('attention_forward', {'D': 64, 'BM': 64, 'BN': 64}, {}, {'q': 'bf16:2x128x64', 'k': 'bf16:2x128x64', 'v': 'bf16:2x128x64', 'out': 'bf16:2x128x64', 'lse': 'f32:2x128', 'length': 'i32=128', 'scale': 'f32=0.125'}),
        'attention_backward_kv.wide': ('attention_backward_kv', {'D': 64, 'BM': 64, 'BN': 64}, {}, {**heads, **backward}),
        'transpose.clusters': ('transpose', {'BM': 64, 'BN': 64}, {'num_ctas': 2}, {'x': 'f16:128x128', 'out': 'f16:128x128', 'rows': 'i32=128', 'columns': 'i32=128'}),
        'histogram_atomic.dependent': ('histogram_atomic', {'BINS': 37, 'BLOCK': 256}, {'launch_pdl': True}, {'x': 'i32:700', 'out': 'i32:37', 'weights': 'i32:700', 'sums': 'i64:37', 'n': 'i32=700'}),
    }


def load_kernels():
    # PTX has the path of its source.
    path = os.path.join(tempfile.gettempdir(), 'triton_kernels.py')
    shutil.copy(os.path.join(ROOT, 'fixtures/producers/triton_kernels.py'), path)
    spec = importlib.util.spec_from_file_location('triton_kernels', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(function, arguments, constants, options, sm):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    names = function.arg_names
    types = {name: ('*' if ':' in spec.split('=')[0] else '') + TRITON[re.match(r'\w+', spec)[0]] for name, spec in arguments.items()}
    signature = {name: types.get(name, 'constexpr') for name in names}

    # As the launcher specializes: pointers and sizes that 16 divides.
    def divides(spec):
        return ':' in spec.split('=')[0] or (spec.startswith('i32=') and int(spec[4:]) % 16 == 0)
    attrs = {(names.index(name),): [['tt.divisibility', 16]] for name, spec in arguments.items() if divides(spec)}
    source = ASTSource(function, signature, {(names.index(name),): value for name, value in constants.items()}, attrs)
    return triton.compile(source, target=GPUTarget('cuda', sm, 32), options={'num_warps': 4, **options})


def text_of(kernel):
    # The path of Triton's own library says nothing.
    return re.sub(r'"/[^"]*/(site-packages/)', r'"\1', kernel.asm['ptx'])


def metadata_of(kernel):
    fields = json.loads(json.dumps(kernel.metadata._asdict(), default=lambda value: getattr(value, '__dict__', str(value))))
    return {name: fields[name] for name in KEPT if name in fields}


def parameters(ptx):
    at = ptx.index('.entry')
    return ptx[at:ptx.index('\n)', at)].count('.param')


def record(name, kernels, function, grid, constants, options, arguments):
    kernel = compiled(getattr(kernels, function), arguments, constants, options, 80)
    ptx, metadata = text_of(kernel), metadata_of(kernel)
    given = [argument(parameter, spec) for parameter, spec in arguments.items()]
    # Scratch for the whole grid where the kernel uses some.
    scratch = parameters(ptx) - len(given)
    size = metadata.get('global_scratch_size', 0) * grid[0] * grid[1] * grid[2]
    given += [argument(f'scratch{i}', f'u8:{size}' if size and i == 0 else 'null') for i in range(scratch)]
    return launched(name, ptx, metadata['name'], grid, (32 * metadata['num_warps'], 1, 1), metadata['shared'], given, metadata=metadata)


def main(folder, chosen):
    import triton
    import triton.language as tl
    kernels, recorded, newer = load_kernels(), [], {}
    for name, (function, grid, constants, options, arguments) in launches(tl).items():
        if chosen and name not in chosen:
            continue
        try:
            recorded.append(record(name, kernels, function, grid, constants, options, arguments))
            print(name, len(recorded[-1]['ptx']), [a['name'] + ('!' if 'unsteady' in a else '') for a in recorded[-1]['args'] if 'after' in a], flush=True)
        except Exception as error:
            print(name, 'FAILED', repr(error)[:300], traceback.format_exc()[-700:], flush=True)
        try:
            newer[name] = text_of(compiled(getattr(kernels, function), arguments, constants, options, 90))
        except Exception as error:
            print(name, 'sm_90 FAILED', repr(error)[:300], flush=True)
    for name, (function, constants, options, arguments) in wide_launches().items():
        try:
            newer[name] = text_of(compiled(getattr(kernels, function), arguments, constants, options, 90))
        except Exception as error:
            print(name, 'sm_90 FAILED', repr(error)[:300], flush=True)
    write_family(os.path.join(folder, 'triton.json.gz'), f'Triton {triton.__version__}', recorded)
    with open(os.path.join(folder, 'triton-sm90.json.gz'), 'wb') as file:
        file.write(gzip.compress(json.dumps(newer).encode(), 9, mtime=0))


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
