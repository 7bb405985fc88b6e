/*
 * Processes: a program here is one, and has none beside it. What would make another says so on standard error and fails as POSIX says of a
 * function that is not supported; what the program does then is its own. Source: POSIX.1-2017.
 */
#include <errno.h>
#include <sys/resource.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wasi/api.h>

static int refused(const char *name) {
  fprintf(stderr, "%s is not supported: a program here is one process\n", name);
  errno = ENOSYS;
  return -1;
}

/* As a process that ends itself by the signal, whose number is 6. */
_Noreturn void abort(void) {
  /* Without a handler, the signal ends in this function again. */
  static int is_raised;
  if (!is_raised) {
    is_raised = 1;
    raise(SIGABRT);
  }
  __wasi_proc_exit(128 + 6);
}

pid_t fork(void) { return refused("fork"); }
pid_t _Fork(void) { return refused("fork"); }
pid_t vfork(void) { return refused("vfork"); }
int execve(const char *path, char *const args[], char *const env[]) { return (void)path, (void)args, (void)env, refused("execve"); }
int execv(const char *path, char *const args[]) { return (void)path, (void)args, refused("execv"); }
int execvp(const char *name, char *const args[]) { return (void)name, (void)args, refused("execvp"); }
int execle(const char *path, const char *first, ...) { return (void)path, (void)first, refused("execle"); }
int execl(const char *path, const char *first, ...) { return (void)path, (void)first, refused("execl"); }
int execlp(const char *name, const char *first, ...) { return (void)name, (void)first, refused("execlp"); }
int pipe(int ends[2]) { return (void)ends, refused("pipe"); }
/* There is no shell, which is what null asks. */
int system(const char *command) { return command ? refused("system") : 0; }
FILE *popen(const char *command, const char *mode) { return (void)command, (void)mode, (void)refused("popen"), NULL; }
int pclose(FILE *stream) { return (void)stream, errno = EINVAL, -1; }

static pid_t without_children(void) {
  errno = ECHILD;
  return -1;
}
pid_t wait(int *status) { return (void)status, without_children(); }
pid_t waitpid(pid_t which, int *status, int options) { return (void)which, (void)status, (void)options, without_children(); }

/* Ids of a user that is nobody in particular; none can be changed. */
uid_t getuid(void) { return 1000; }
uid_t geteuid(void) { return 1000; }
gid_t getgid(void) { return 1000; }
gid_t getegid(void) { return 1000; }
pid_t getppid(void) { return 1; }

int kill(pid_t process, int number) {
  if (process == getpid() || process == 0) return number == 0 ? 0 : raise(number);
  errno = ESRCH;
  return -1;
}

/* A file of a new name: the last six characters of the template, which are X before. */
int mkstemps(char *template, int behind) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  size_t length = strlen(template);
  if (behind < 0 || length < 6 + (size_t)behind || memcmp(template + length - behind - 6, "XXXXXX", 6) != 0) {
    errno = EINVAL;
    return -1;
  }
  char *place = template + length - behind - 6;
  for (int tries = 0; tries < 100; tries++) {
    for (int i = 0; i < 6; i++) place[i] = letters[arc4random_uniform(sizeof letters - 1)];
    int fd = open(template, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}
int mkstemp(char *template) { return mkstemps(template, 0); }

/* The limits are those of the memory, which nobody can move; a stack has the size that it is linked with. */
int getrlimit(int resource, struct rlimit *to) {
  rlim_t limit = resource == RLIMIT_STACK ? 8 << 20 : resource == RLIMIT_DATA || resource == RLIMIT_AS ? 1ull << 32 : RLIM_INFINITY;
  if (resource < RLIMIT_CPU || resource > RLIMIT_AS) {
    errno = EINVAL;
    return -1;
  }
  to->rlim_cur = to->rlim_max = limit;
  return 0;
}

int setrlimit(int resource, const struct rlimit *to) {
  struct rlimit now;
  if (getrlimit(resource, &now) != 0) return -1;
  if (to->rlim_cur == now.rlim_cur) return 0;
  errno = EPERM;
  return -1;
}

static int is_folder(const char *path, const struct stat *folder) {
  struct stat found;
  return stat(path, &found) == 0 && found.st_dev == folder->st_dev && found.st_ino == folder->st_ino;
}

/* An open folder has no name in WASI. Programs go back to where they were, which is the folder of the start, or one above the current one. */
int fchdir(int fd) {
  struct stat folder;
  if (fstat(fd, &folder) != 0) return -1;
  if (!S_ISDIR(folder.st_mode)) return errno = ENOTDIR, -1;
  const char *start = getenv("PWD");
  if (start && is_folder(start, &folder)) return chdir(start);
  char *path = getcwd(NULL, 0);
  if (!path) return -1;
  int found = is_folder(path, &folder);
  for (char *end = strrchr(path, '/'); !found && end; end = strrchr(path, '/')) {
    *end = 0;
    if (end == path) break;
    found = is_folder(path, &folder);
  }
  int result = found ? chdir(path) : (errno = ENOTSUP, -1);
  free(path);
  return result;
}
