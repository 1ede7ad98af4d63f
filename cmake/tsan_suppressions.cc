// What ThreadSanitizer has to be told; linked into every program of a tsan build.

/// libcpp-httplib is not instrumented: how it makes its own function-local statics safe is not
/// seen, and their first two readers look like a race. Only calls that come straight from it are
/// left out, not what it calls of ours.
extern "C" const char* __tsan_default_suppressions() {  // NOLINT: the sanitizer's name
  return "called_from_lib:libcpp-httplib.so\n";
}
