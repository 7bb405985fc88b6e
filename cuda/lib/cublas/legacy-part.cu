// Functions without handles, of one level and one type: CUMETAL_LEVEL and CUMETAL_S, CUMETAL_D, CUMETAL_C or CUMETAL_Z say which. They are made of
// the same table as the header. Source: cuBLAS Library, "Using the cuBLAS Legacy API".
#include "legacy.h"

using namespace cumetal;

#include "legacy-functions.h"
