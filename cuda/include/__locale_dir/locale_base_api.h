// libc++ was built without knowing Linux, and takes functions of locales as POSIX has them.
#pragma once
#pragma push_macro("__linux__")
#undef __linux__
#include_next <__locale_dir/locale_base_api.h>
#pragma pop_macro("__linux__")
