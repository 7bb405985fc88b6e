// Matrix multiplication of a warp. Source: CUDA C++ Programming Guide, "Warp Matrix Functions"; PTX ISA, "Warp Level Matrix Instructions".
#ifndef __CUMETAL_MMA_H__
#define __CUMETAL_MMA_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

// Host code of another compiler includes this in vain.
#ifdef __CUDA__
#include "cumetal/matrix/fragment.h"
#include "cumetal/matrix/transfer.h"
#include "cumetal/matrix/multiply.h"

#undef __cumetal_wmma_list_1
#undef __cumetal_wmma_list_2
#undef __cumetal_wmma_list_4
#undef __cumetal_wmma_list_8
#undef __cumetal_wmma_out_1
#undef __cumetal_wmma_out_2
#undef __cumetal_wmma_out_4
#undef __cumetal_wmma_out_8
#undef __cumetal_wmma_in_1
#undef __cumetal_wmma_in_2
#undef __cumetal_wmma_in_4
#undef __cumetal_wmma_in_8
#endif

#endif
