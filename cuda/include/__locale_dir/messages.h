// libc++ was built without catalogs of messages.
#pragma once
#pragma push_macro("__unix__")
#undef __unix__
#include_next <__locale_dir/messages.h>
#pragma pop_macro("__unix__")
