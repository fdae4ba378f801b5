// The allocator of the daemon: jemalloc, which `expunged` is linked with, and a `free` that wipes
// first. Nothing here is called by name. It also counts for clinux_meter_begin().
//
// Swift allocates and frees small objects all the time, often on one thread what another one
// allocated; docs/decisions/0017-jemalloc.md says what that costs and what this saves.
// docs/decisions/0030-freed-memory-is-wiped.md says why memory is wiped, and what that costs.
#pragma once
