// OpenMP for a program of one thread: its directives are ignored, and a parallel region has one thread. Source: OpenMP Application
// Programming Interface, 5.2, chapter 18.
#ifndef __CUMETAL_OMP_H__
#define __CUMETAL_OMP_H__

#include <time.h>

typedef enum omp_sched_t {
  omp_sched_static = 1,
  omp_sched_dynamic = 2,
  omp_sched_guided = 3,
  omp_sched_auto = 4,
  omp_sched_monotonic = (int)0x80000000u,
} omp_sched_t;
typedef enum omp_proc_bind_t {
  omp_proc_bind_false = 0,
  omp_proc_bind_true = 1,
  omp_proc_bind_primary = 2,
  omp_proc_bind_master = omp_proc_bind_primary,
  omp_proc_bind_close = 3,
  omp_proc_bind_spread = 4,
} omp_proc_bind_t;
typedef struct omp_lock_t {
  int held;
} omp_lock_t;
typedef struct omp_nest_lock_t {
  int held;
} omp_nest_lock_t;

#define __cumetal_omp(result, name, arguments, value) \
  static inline result name arguments { return value; }
__cumetal_omp(int, omp_get_num_threads, (void), 1)
__cumetal_omp(int, omp_get_max_threads, (void), 1)
__cumetal_omp(int, omp_get_thread_num, (void), 0)
__cumetal_omp(int, omp_get_thread_limit, (void), 1)
__cumetal_omp(int, omp_get_num_procs, (void), 1)
__cumetal_omp(int, omp_in_parallel, (void), 0)
__cumetal_omp(int, omp_in_final, (void), 1)
__cumetal_omp(int, omp_get_dynamic, (void), 0)
__cumetal_omp(int, omp_get_nested, (void), 0)
__cumetal_omp(int, omp_get_cancellation, (void), 0)
__cumetal_omp(int, omp_get_level, (void), 0)
__cumetal_omp(int, omp_get_active_level, (void), 0)
__cumetal_omp(int, omp_get_ancestor_thread_num, (int level), level == 0 ? 0 : -1)
__cumetal_omp(int, omp_get_team_size, (int level), level == 0 ? 1 : -1)
__cumetal_omp(int, omp_get_max_active_levels, (void), 1)
__cumetal_omp(int, omp_get_supported_active_levels, (void), 1)
__cumetal_omp(omp_proc_bind_t, omp_get_proc_bind, (void), omp_proc_bind_false)
__cumetal_omp(int, omp_get_num_places, (void), 0)
__cumetal_omp(int, omp_get_num_teams, (void), 1)
__cumetal_omp(int, omp_get_team_num, (void), 0)
__cumetal_omp(int, omp_is_initial_device, (void), 1)
__cumetal_omp(int, omp_get_num_devices, (void), 0)
__cumetal_omp(int, omp_get_initial_device, (void), 0)
__cumetal_omp(int, omp_get_default_device, (void), 0)
__cumetal_omp(int, omp_get_device_num, (void), 0)
// Settings that one thread has no use for.
__cumetal_omp(void, omp_set_num_threads, (int count), (void)count)
__cumetal_omp(void, omp_set_dynamic, (int on), (void)on)
__cumetal_omp(void, omp_set_nested, (int on), (void)on)
__cumetal_omp(void, omp_set_max_active_levels, (int count), (void)count)
__cumetal_omp(void, omp_set_default_device, (int device), (void)device)
__cumetal_omp(void, omp_set_schedule, (omp_sched_t kind, int chunk), (void)(kind, chunk))
static inline void omp_get_schedule(omp_sched_t *kind, int *chunk) {
  *kind = omp_sched_static;
  *chunk = 0;
}
#undef __cumetal_omp

// Nobody else holds a lock.
static inline void omp_init_lock(omp_lock_t *lock) { lock->held = 0; }
static inline void omp_destroy_lock(omp_lock_t *lock) { lock->held = 0; }
static inline void omp_set_lock(omp_lock_t *lock) { lock->held = 1; }
static inline void omp_unset_lock(omp_lock_t *lock) { lock->held = 0; }
static inline int omp_test_lock(omp_lock_t *lock) { return lock->held ? 0 : (lock->held = 1); }
static inline void omp_init_nest_lock(omp_nest_lock_t *lock) { lock->held = 0; }
static inline void omp_destroy_nest_lock(omp_nest_lock_t *lock) { lock->held = 0; }
static inline void omp_set_nest_lock(omp_nest_lock_t *lock) { lock->held++; }
static inline void omp_unset_nest_lock(omp_nest_lock_t *lock) { lock->held--; }
static inline int omp_test_nest_lock(omp_nest_lock_t *lock) { return ++lock->held; }

static inline double omp_get_wtime(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static inline double omp_get_wtick(void) { return 1e-9; }

#endif
