/* Functions that libraries name and that WASI has nothing for: they fail as POSIX says of a function that is not supported. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

static int unsupported(void) {
  errno = ENOSYS;
  return -1;
}

int statvfs(const char *restrict path, struct statvfs *restrict to) { return (void)path, (void)to, unsupported(); }
int fstatvfs(int fd, struct statvfs *to) { return (void)fd, (void)to, unsupported(); }
int chmod(const char *path, mode_t mode) { return (void)path, (void)mode, unsupported(); }
int fchmod(int fd, mode_t mode) { return (void)fd, (void)mode, unsupported(); }
int fchmodat(int fd, const char *path, mode_t mode, int flags) { return (void)fd, (void)path, (void)mode, (void)flags, unsupported(); }
char *realpath(const char *restrict path, char *restrict to) { return (void)path, (void)to, (void)unsupported(), NULL; }
