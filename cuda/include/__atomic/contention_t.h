// libc++ was built without knowing Linux, whose type for waiting on atomics differs.
#pragma once
#pragma push_macro("__linux__")
#undef __linux__
#include_next <__atomic/contention_t.h>
#pragma pop_macro("__linux__")
