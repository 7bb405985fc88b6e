/* Mathematical functions. As with GNU's C++ library, <stdlib.h> comes along, which programs rely on. */
#include_next <math.h>
#ifdef __cplusplus
#include <stdlib.h>
#endif
