#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two "hosts" (network namespaces), each with 20 interfaces that lead nowhere, one of them
# the default route, and one link to the other: the ranks find that link, over IPv4 and IPv6.
set -euo pipefail
meet=$1
if [[ $(id -u) != 0 ]] || ! ip netns add yoke-probe-$$ 2>/dev/null; then
    echo "skipped: network namespaces need root"
    exit 77
fi
ip netns del yoke-probe-$$
a=yoke-a-$$ b=yoke-b-$$
cleanup() {
    ip netns del "$a" 2>/dev/null || true
    ip netns del "$b" 2>/dev/null || true
}
trap cleanup EXIT
ip netns add "$a"
ip netns add "$b"
ip link add ya$$ netns "$a" type veth peer name yb$$ netns "$b"

prepare() { # NAMESPACE LINK NUMBER
    ip -n "$1" link set lo up
    ip -n "$1" link set "$2" up
    ip -n "$1" addr add "192.168.77.$3/24" dev "$2"
    ip -n "$1" addr add "fd77::$3/64" dev "$2" nodad
    # Pairs whose other end nobody answers at; not every kernel has dummy interfaces.
    for i in $(seq 0 19); do
        ip -n "$1" link add "deaf$i" type veth peer name "mute$i"
        ip -n "$1" addr add "10.$((100 + i)).$3.1/16" dev "deaf$i"
        ip -n "$1" link set "deaf$i" up
        ip -n "$1" link set "mute$i" up
    done
    ip -n "$1" route add default dev deaf3
}
prepare "$a" ya$$ 1
prepare "$b" yb$$ 2

export WORLD_SIZE=2 MASTER_PORT=29611 YOKE_COMM_SECRET=0123456789abcdef
export ASAN_OPTIONS=detect_leaks=1
meet_at() { # ADDRESS
    MASTER_ADDR=$1 RANK=0 ip netns exec "$a" timeout 60 "$meet" >"$log.0" 2>&1 &
    local first=$!
    local status=0
    MASTER_ADDR=$1 RANK=1 ip netns exec "$b" timeout 60 "$meet" >"$log.1" 2>&1 || status=1
    wait $first || status=1
    cat "$log.0" "$log.1"
    return $status
}
log=$(mktemp)
trap 'cleanup; rm -f "$log" "$log.0" "$log.1"' EXIT
for address in 192.168.77.1 fd77::1; do
    meet_at "$address"
    grep -q "^rank 0 of 2 met: .* ya$$," "$log.0" ||
        { echo "rank 0 did not find its link"; exit 1; }
    grep -q "^rank 1 of 2 met: .* yb$$," "$log.1" ||
        { echo "rank 1 did not find its link"; exit 1; }
done

# IPv6 alone.
ip -n "$a" addr del 192.168.77.1/24 dev ya$$
ip -n "$b" addr del 192.168.77.2/24 dev yb$$
meet_at fd77::1
grep -q "^rank 1 of 2 met: fd77::2 yb$$," "$log.1" ||
    { echo "not over IPv6"; exit 1; }

# No way at all between the planes, though they meet: named, with what was tried.
if YOKE_COMM_INTERFACE=deaf5 YOKE_COMM_SETUP_TIMEOUT=4 meet_at fd77::1 >"$log" 2>&1; then
    echo "ranks met over interfaces that lead nowhere"
    exit 1
fi
for rank in 0 1; do
    grep -q "cannot reach rank 0 (host .*10.105.1.1 port" "$log.$rank" ||
        { echo "rank $rank does not say what was tried:"; cat "$log.$rank"; exit 1; }
done
