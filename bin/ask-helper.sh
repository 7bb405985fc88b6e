# Asks the helper through named pipes, in plain sh: to start Bun for that takes half as long as the helper's work. `bin/cumetal` reads this file. The
# other side is `src/cli/helper/pipes.ts`.

newline='
'

# The helper's folder of pipes, and the words of a command that reads one PTX file. Prints what the command prints, and ends the shell with its code.
# Returns where anything is unusual, before it prints, or where the output takes no more: the program does the work itself.
ask_helper() {
  pipes=$1
  shift
  case $pipes in /*) ;; *) return 0 ;; esac
  [ -O "$pipes" ] && [ ! -L "$pipes" ] || return 0
  case $PWD$* in *"$newline"*) return 0 ;; esac
  # The helper knows nothing of what these mean.
  [ -z "${CUMETAL_CLANG-}${CUMETAL_COMPILER-}${CUMETAL_CUDA-}${CUMETAL_EXEC-}${CUMETAL_EXEC_GUARD-}${CUMETAL_EXEC_SERVE-}${CUMETAL_NATIVE-}${CUMETAL_NATIVE_BITS-}" ] || return 0
  [ -z "${CUMETAL_OPENCL-}${CUMETAL_RECORD-}${CUMETAL_RECORD_KERNEL-}${CUMETAL_RECORD_LIMIT-}${CUMETAL_RECORD_VARIABLES-}${CUMETAL_SYSROOT-}" ] || return 0
  [ -z "${CUMETAL_TOOLKIT-}${CUMETAL_TRACE-}${CUMETAL_TUNING-}${CUMETAL_VERIFY-}${CUMETAL_WEBGPU-}" ] || return 0
  find_files "$@" || return 0
  command -v cat >/dev/null && command -v rm >/dev/null || return 0

  # Who makes the file has the two pipes of this number, until the helper has answered.
  { IFS= read -r number <"$pipes/next"; } 2>/dev/null || return 0
  ask=$pipes/$number.ask
  answer=$pipes/$number.answer
  [ -p "$ask" ] && [ -O "$ask" ] && [ -p "$answer" ] && [ -O "$answer" ] || return 0
  make_file "$pipes/$number.taken" || return 0

  code=
  trap '' PIPE
  # To open both ends of a pipe waits for nobody. Behind that, it ends with the helper.
  if { command exec 5<>"$answer" 6<"$answer" 5>&- 4<>"$ask" 3>"$ask" 4>&-; } 2>/dev/null; then
    # An empty file beside the output shows the helper that this process may write there.
    if [ -z "$to" ] || make_file "$part"; then send "$@"; fi
    exec 3>&-
    receive <&6
    exec 6<&-
  fi
  trap - PIPE
  # The helper made the output of it, unless there is none.
  [ -z "$part" ] || [ ! -e "$part" ] || rm -f "$part"
  [ -n "$code" ] || return 0
  printf '%s' "$err" >&2
  # Where the output takes no more, the program meets the same problem, and reports it.
  { printf '%s' "$out"; } 2>/dev/null || return 0
  exit "$code"
}

# The PTX file of a command, its output, and a file beside that; fails where they are not usual ones.
find_files() {
  text=
  to=
  path=
  part=
  last=
  for word do
    case $last in
      -o | --output) to=$word ;;
      *) case $word in -*) ;; *.ptx) [ -z "$text" ] || return 1; text=$word ;; esac ;;
    esac
    last=$word
  done
  [ -f "$text" ] && [ -r "$text" ] || return 1
  case $to in
    '') return 0 ;;
    - | */) return 1 ;;
    /*) path=$to ;;
    *) path=$PWD/$to ;;
  esac
  # The program has the same process number, and makes names `.cumetal-$$-…` with it.
  part=${path%/*}/.cumetal-0-$$.new
  [ ! -L "$path" ] || return 1
  [ ! -e "$path" ] || { [ -f "$path" ] && [ -w "$path" ]; }
}

# Makes an empty file, unless there is one.
make_file() {
  set -C
  { true >"$1"; } 2>/dev/null
  set -- "$?"
  set +C
  return "$1"
}

# Whether a stream shows colors, as `src/cli/terminal/index.ts` finds out.
has_color() {
  [ -z "${NO_COLOR-}" ] || return 1
  case ${FORCE_COLOR-} in '') ;; 0) return 1 ;; *) return 0 ;; esac
  [ -t "$1" ] && [ "${TERM-}" != dumb ]
}

# Sends the words of the command, and the text. The last line says that nothing is missing.
send() {
  colors=
  if has_color 1; then colors=out; fi
  if has_color 2; then colors=$colors,err; fi
  { printf '%s\n' "$colors" "$path" "$part" "$text" "$to" "$#" "$@" && cat <"$text" && printf '\000end\n'; } 2>/dev/null >&3
}

# Reads the lines of both streams, and the code of the command.
receive() {
  out=
  err=
  while IFS= read -r line; do
    case $line in
      o*) out=$out${line#o}$newline ;;
      e*) err=$err${line#e}$newline ;;
      x*) code=${line#x} ;;
    esac
  done
}
